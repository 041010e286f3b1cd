// limits.h: maxima of events and calls; those of HTTP: src/http/transport/server.h. docs/api.md lists all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace eventq::limits {

// Sizes are in bytes of UTF-8. Names that end in Chars count characters.
inline constexpr std::size_t kTitleChars = 200;
inline constexpr std::size_t kDescription = 16 * 1024;
inline constexpr std::size_t kErrorMessage = 16 * 1024;
inline constexpr std::size_t kErrorDetail = 64 * 1024;
inline constexpr std::size_t kResult = 64 * 1024;  // of JSON text
inline constexpr std::size_t kPayload = 1024 * 1024;
inline constexpr std::size_t kEnvelope = 64 * 1024;  // all of one event except its payload
inline constexpr std::size_t kOneEventBody = kPayload + kEnvelope;
inline constexpr std::size_t kBatchBody = 32 * 1024 * 1024;
inline constexpr std::size_t kBatchEvents = 10'000;

inline constexpr std::size_t kTags = 32;      // per event, and per subscription
inline constexpr std::size_t kTagChars = 64;  // of [A-Za-z0-9._:/@-]
inline constexpr std::size_t kWorkerIdChars = 255;
inline constexpr std::size_t kQueueNameChars = 128;  // of [A-Za-z0-9._:/@-]
inline constexpr std::size_t kEventIdChars = 128;    // visible ASCII
inline constexpr std::size_t kCorrelationIdChars = 128;
inline constexpr std::size_t kCausationIdChars = 128;
inline constexpr std::size_t kTraceIdChars = 128;
inline constexpr std::size_t kPattern = 200;
inline constexpr std::size_t kVersion = 64;
inline constexpr std::size_t kSource = 200;  // each of its members
inline constexpr std::size_t kKey = 512;     // ordering_key, supersede_key
inline constexpr std::size_t kAttributes = 16 * 1024;
inline constexpr std::size_t kIdempotencyKeyChars = 255;
inline constexpr std::size_t kReasonChars = 1000;
inline constexpr std::size_t kErrors = 100;  // per completion

inline constexpr int kPriority = 1'000'000;  // from -kPriority to kPriority
inline constexpr int kMaxRetries = 1000;
inline constexpr int kMaxAttempts = 1'000'000;
inline constexpr int kStatusCode = 999;                                        // from 0
inline constexpr std::int64_t kExecutionTimeMs = 1000LL * 60 * 60 * 24 * 365;  // from 0
inline constexpr std::chrono::hours kDelay{24 * 365};                          // from 0
inline constexpr std::int64_t kQueueDepth = 1'000'000'000;                     // from 1
inline constexpr std::int64_t kEventId = (1LL << 53) - 1;  // every JSON reader holds it exactly

inline constexpr std::size_t kClaim = 1000;        // events per claim
inline constexpr std::size_t kPage = 1000;         // events per list page
inline constexpr std::size_t kSample = 1000;       // bytes of the message of a group of failures
inline constexpr std::size_t kQueueEvents = 1000;  // events shown in a queue's document
inline constexpr std::size_t kReplay = 10'000;     // events per replay or retry
inline constexpr std::size_t kUnattended = 1000;   // events of a queue that no worker asks for, counted
inline constexpr std::int64_t kOffset = 1'000'000'000;
inline constexpr std::size_t kCheckpoints = 1000;  // per queue, of those that callers made
inline constexpr std::size_t kQueueLog = 10'000;   // newest entries kept per queue
inline constexpr std::size_t kBy = 512;            // by, published_by
inline constexpr std::size_t kTraceparent = 512;
inline constexpr std::size_t kTracestate = 512;         // what W3C Trace Context asks for at least
inline constexpr std::chrono::milliseconds kScan{250};  // of a list that has no index
inline constexpr std::chrono::seconds kWait{3600};      // of one call
inline constexpr std::chrono::hours kIdempotencyKeyAge{24};
inline constexpr std::chrono::minutes kWorkerIdle{10};  // since a worker asked for events; then it is gone
inline constexpr std::chrono::hours kWorkerListed{24};  // since the last call of a worker

inline constexpr std::size_t kJsonDepth = 64;  // including the outermost object

static_assert(kOneEventBody < kBatchBody);
static_assert(kClaim <= kBatchEvents);

}  // namespace eventq::limits
