// cpp_prelude.h: what the C++ of README.md and docs/ takes for granted: the public headers, and functions of
// the reader's program.
#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include "eventq/admin.h"
#include "eventq/client.h"
#include "eventq/event_context.h"
#include "eventq/queue.h"
#include "eventq/serve.h"
#include "eventq/worker.h"

void send_mail(const std::string& mail);
std::string address_in(const std::string& payload);
eventq::Handled archive_invoice(const eventq::Event& event, const std::stop_token& stop);
int report(const eventq::Error& error);
