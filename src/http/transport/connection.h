// connection.h: one client's socket, from accept to close.
//
// A connection handles one request at a time: it reads the request, gives it to the Service, writes the
// response and reads the next one. While the Service has a request, or a stream has not ended, the connection
// still reads the socket, because only a read shows that the client left. Bytes that arrive meanwhile wait in
// the buffer. When the buffer is full, the connection stops reading and TCP stops the client.
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

// The loop holds a reference until the connection is closed, and each asynchronous operation holds one until
// it ends.
class HttpConnection final
    : public boost::intrusive_ref_counter<HttpConnection, boost::thread_unsafe_counter> {
 public:
  // Its requests get the ids `first_exchange` + 1, + 2, ...
  HttpConnection(IoLoop& loop, boost::asio::ip::tcp::socket socket, ExchangeId first_exchange);

  // Waits for the first request.
  void start();

  // Answers with an error of the server itself, without calling on_request(), and closes. For a connection
  // over the limit, and for a request that is malformed, too slow, or incomplete at a shutdown.
  void refuse(int status, std::string_view message);

  // True when the Service has this request and has not answered it.
  [[nodiscard]] bool waits_for(ExchangeId exchange) const {
    return state_ == ConnectionState::exchange && exchange_ == exchange;
  }
  [[nodiscard]] ExchangeId exchange() const { return exchange_; }

  // Sends the response, or its beginning if it is a stream. Bytes that the kernel does not take at once are
  // written later. False: the client is gone, or a stream was to begin during a shutdown. Makes no callback
  // of the Service before it returns, because the Service calls it.
  // REQUIRES: waits_for(the exchange).
  bool respond(Response response);

  // True when this response is a stream that has not ended.
  [[nodiscard]] bool streams(ExchangeId exchange) const {
    return state_ == ConnectionState::streaming && exchange_ == exchange;
  }

  // Send the next piece of a stream, and end the stream. send_piece() returns false when the client is gone.
  // As respond(), they make no callback of the Service before they return; on_sent() is posted.
  // REQUIRES: streams(the exchange).
  bool send_piece(std::string_view piece);
  void finish_stream();

  // Closes the connection, or answers 408, when a time limit is over.
  void sweep(SteadyTime now);

  // Reads no further requests, because the server stops. Ends a stream and calls Service::on_gone(). A
  // request that has partly arrived is answered 503. A request that the Service has is still answered. Then
  // closes.
  void drain();

  // Closes now. Calls Service::on_gone() when an exchange is under way.
  void abandon();

 private:
  using ConnectionPtr = boost::intrusive_ptr<HttpConnection>;

  enum class ConnectionState : std::uint8_t {
    reading,    // reads a request, or waits for one
    exchange,   // the Service has the request
    streaming,  // the response is a stream that has not ended
    writing,    // writes the response, or the end of a stream
    lingering,  // the last response is written; input is dropped until the client closes
    closed,
  };

  // The Service has not answered, or has not ended its stream.
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
  bool write_piece(std::string bytes);
  bool write(const std::string& header, std::string body);
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

  // The bytes of a response that the kernel did not take at once.
  std::string out_header_;
  std::string out_body_;
  std::size_t out_written_ = 0;  // of both together
  std::string out_next_;         // pieces of a stream that follow them

  // These three are for streams.
  std::string_view keep_alive_text_;
  bool chunked_ = false;
  bool report_sent_ = false;  // call on_sent() when all is written

  bool reading_ = false;      // a read into in_ is under way
  bool writing_ = false;      // a write of what the kernel did not take is under way
  bool watching_ = false;     // a wait for a hang-up is under way
  bool dispatching_ = false;  // the Service is being called
  bool run_posted_ = false;
  bool header_timed_ = false;  // deadline_ is that of the header
  bool client_done_ = false;   // the client has closed its sending side
  bool close_after_ = false;   // this response is the last
  bool under_way_ = false;     // the loop counts this exchange
};

}  // namespace eventq::http
