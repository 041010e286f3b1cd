// connection.h: one client's socket, from accept to close.
//
// One request at a time: read it, give it to the Service, write the response, look
// for the next one. While the Service has a request, or the response is a stream without
// an end yet, the socket is still read from, to notice that the client left; what arrives meanwhile waits in
// the buffer, and once that is full the kernel holds the client back.
//
// Threads: its IoLoop's thread only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/steady.h"
#include "http/transport/input_buffer.h"
#include "http/transport/message.h"
#include "http/transport/request_parser.h"
#include "http/transport/server.h"

namespace eventq::http {

class IoLoop;

// Its loop refers to it until it is closed, each operation under way until it has ended.
class HttpConnection final
    : public boost::intrusive_ref_counter<HttpConnection, boost::thread_unsafe_counter> {
 public:
  // `first_exchange` + 1, + 2, ... name its requests.
  HttpConnection(IoLoop& loop, boost::asio::ip::tcp::socket socket, ExchangeId first_exchange);

  // Waits for the first request.
  void start();

  // Answers before any request, and closes.
  void refuse(int status, std::string_view message);

  // The request that the Service has now, if it has one.
  [[nodiscard]] bool waits_for(ExchangeId exchange) const {
    return state_ == ConnectionState::exchange && exchange_ == exchange;
  }
  [[nodiscard]] ExchangeId exchange() const { return exchange_; }

  // See IoThread::respond(). Never calls the Service.
  // REQUIRES: waits_for(the exchange).
  bool respond(Response response);

  // The response that the Service has begun and not ended, if there is one.
  [[nodiscard]] bool streams(ExchangeId exchange) const {
    return state_ == ConnectionState::streaming && exchange_ == exchange;
  }

  // See IoThread::send() and finish(). Never call the Service.
  // REQUIRES: streams(the exchange).
  bool send_piece(std::string_view piece);
  void finish_stream();

  // Closes what has run out of time.
  void sweep(SteadyTime now);

  // No further request: ends now what has none under way.
  void drain();

  // Ends now, whatever is under way; the Service hears of an exchange.
  void abandon();

 private:
  using ConnectionPtr = boost::intrusive_ptr<HttpConnection>;

  enum class ConnectionState : std::uint8_t {
    reading,    // a request, or waiting for one
    exchange,   // the Service has the request
    streaming,  // the response has begun, and more of it may come
    writing,    // the response, or the end of a stream
    lingering,  // the response is out; what the client still sends is dropped until it closes
    closed,
  };

  // The Service has yet to answer, or to end its answer.
  [[nodiscard]] bool has_exchange() const {
    return state_ == ConnectionState::exchange || state_ == ConnectionState::streaming;
  }

  // Reading.
  void read_more();
  [[nodiscard]] std::size_t buffer_wanted() const;
  void watch_for_hangup();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void on_read_end(const boost::system::error_code& error);

  // Requests.
  void run();
  void run_later();
  bool next_request();
  void await_rest(ParseProgress progress);
  bool send_continue();
  bool dispatch();

  // Responses.
  bool send(Response response);
  bool write(std::string bytes);
  void send_keep_alive();
  void report_sent();
  void write_rest();
  void on_written(const boost::system::error_code& error, std::size_t size);
  void on_all_written();
  void finish_response();
  void linger();
  void close();

  // Set in the constructor, never changed.
  IoLoop& loop_;

  boost::asio::ip::tcp::socket socket_;
  InputBuffer in_;
  RequestParser parser_;
  ExchangeId exchange_;
  ConnectionState state_ = ConnectionState::reading;

  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime body_start_;

  // The part of a response that the kernel did not take at once.
  std::string out_header_;
  std::string out_body_;
  std::size_t out_written_ = 0;  // of both together
  std::string out_next_;         // of a stream: to be written behind them

  // Of a stream.
  std::string_view keep_alive_text_;
  bool chunked_ = false;
  bool report_sent_ = false;  // the Service, when all is written

  bool reading_ = false;      // a read into in_ is under way
  bool writing_ = false;      // a write of what the kernel did not take is under way
  bool watching_ = false;     // a wait for a hang-up is under way
  bool dispatching_ = false;  // the Service is being called
  bool run_posted_ = false;
  bool header_timed_ = false;  // deadline_ is that of the header
  bool client_done_ = false;   // it has closed its side
  bool close_after_ = false;   // the response under way is the last
  bool under_way_ = false;     // counted by the loop
};

}  // namespace eventq::http
