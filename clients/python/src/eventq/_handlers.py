"""_handlers.py: which handlers run for which tags. What both workers share."""
from __future__ import annotations

from typing import Generic, List, Mapping, Optional, Tuple, TypeVar, Union, cast

from . import _wire as wire
from ._wire import EventMembers, Tags

H = TypeVar("H")


class Handlers(Generic[H]):
    """Handlers by tag, and the claim for their events."""

    def __init__(self, tags: Union[None, Tags, Mapping[str, H]], handler: Optional[H], queue: str) -> None:
        """`tags` with one handler, or {tag: handler}."""
        if isinstance(tags, Mapping) == (handler is not None):
            raise ValueError("A worker needs tags and a handler, or a mapping of tags to handlers.")
        self._by_tag: List[Tuple[str, H]] = [("", cast(H, handler))]
        if isinstance(tags, Mapping):
            self._by_tag = [(tag.strip(" \t"), each) for tag, each in tags.items()]  # the server trims tags, too
            tags = [tag for tag, _ in self._by_tag]
        self.claim = wire.without_none({"tags": tags, "queue": queue})

    def of(self, event: EventMembers) -> List[H]:
        """All handlers that match the event."""
        return [handler for tag, handler in self._by_tag if not tag or tag in event.tags]
