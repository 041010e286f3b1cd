// seed_001_front_end.mjs: the calls of a front end, written from seed 001 alone, with Node's fetch.
//
// The seed names paths below its routers and not where the routers are, so the caller says where. The lines behind each call:
//
//   62-75    FileEventType, FileEventStatus: PENDING = "pending", ... eventq writes upper case, so is() compares without case
//   90-92    CREATE: {"path": "/notes/foo.md", ...}; MOVE: {"source_path": "/notes/foo.md", "dest_path": "/archive/foo.md"}
//   431      @router.post("/") async def create_file(file: FileCreate, ...)      with path, content, title, description (440-444)
//   450-454  FileCreateResponse(event_id=event.id, status="pending", path=file.path)
//   460      @router.patch("/{file_id}/move") async def move_file(file_id: int, move: FileMoveRequest, ...)
//   475-479  FolderMoveResponse(correlation_id=correlation_id, status="pending", file_count=len(events))
//   489      FileMoveResponse(event_id=event.id, status="pending")
//   537-546  GET /{event_id}: id, status, error_message, processed_at
//   548-563  GET /correlation/{correlation_id}: correlation_id, total, completed, failed, events
//   565-575  POST /{event_id}/wait, timeout: float = 30.0; 408 "Timeout waiting for event"
//   663-667  POST /files/, PUT /files/{id}, PATCH /files/{id}/move, DELETE /files/{id}, `?sync=true`
//   672      `/events/commit` force-commit endpoint
//   766-792  GET /metrics: pending, processing, failed_24h

export const is = (status, expected) => status.toLowerCase() === expected;

export class FrontEnd {
  // The addresses of the files router, of the events router, and of the metrics.
  constructor({ files, events, metrics }) {
    this.files = files;
    this.events = events;
    this.metricsUrl = metrics;
  }

  async call(method, url, body) {
    const response = await fetch(url, {
      method,
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
    const answer = JSON.parse((await response.text()) || "null");
    if (!response.ok) throw Object.assign(new Error(`${method} ${url}: ${response.status}`), { status: response.status, answer });
    return answer;
  }

  create(path, content, title, description, sync = false) {
    return this.call("POST", `${this.files}/${sync ? "?sync=true" : ""}`, { path, content, title, description });
  }
  update(fileId, content) {
    return this.call("PUT", `${this.files}/${fileId}`, { content });
  }
  move(fileId, sourcePath, destPath) {
    return this.call("PATCH", `${this.files}/${fileId}/move`, { source_path: sourcePath, dest_path: destPath });
  }
  remove(fileId) {
    return this.call("DELETE", `${this.files}/${fileId}`);
  }

  event(eventId) {
    return this.call("GET", `${this.events}/${eventId}`);
  }
  correlated(correlationId) {
    return this.call("GET", `${this.events}/correlation/${correlationId}`);
  }
  // The event when it is completed or failed. After the timeout: an error with status 408.
  wait(eventId, timeout = "30.0") {
    return this.call("POST", `${this.events}/${eventId}/wait?timeout=${timeout}`);
  }

  commit() {
    return this.call("POST", `${this.events}/commit`);
  }
  metrics() {
    return this.call("GET", this.metricsUrl);
  }
}
