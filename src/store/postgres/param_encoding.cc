// param_encoding.cc: Params and Rows of connection.h: C++ values to and from PostgreSQL's binary format.
#include <libpq-fe.h>

#include <array>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "store/postgres/connection.h"

namespace eventq::postgres {
namespace {

// Type oids of PostgreSQL's catalog pg_type. Oids of built-in types never change.
constexpr std::uint32_t kBigint = 20;
constexpr std::uint32_t kText = 25;
constexpr std::uint32_t kBigintArray = 1016;
constexpr std::uint32_t kTextArray = 1009;

// In network byte order: the most significant byte first.
template <typename Number>
void append_number(std::string& out, Number number) {
  auto bits = static_cast<std::make_unsigned_t<Number>>(number);
  std::array<char, sizeof(Number)> bytes;
  for (std::size_t i = bytes.size(); i-- > 0; bits = static_cast<decltype(bits)>(bits >> 8)) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(bits));
  }
  out.append(bytes.data(), bytes.size());
}

void append_element(std::string& out, std::int64_t value) {
  append_number(out, std::int32_t{8});
  append_number(out, value);
}

void append_element(std::string& out, const std::string& value) {
  append_number(out, static_cast<std::int32_t>(value.size()));
  out += value;
}

template <typename T>
void append_element(std::string& out, const std::optional<T>& value) {
  if (value) {
    append_element(out, *value);
  } else {
    append_number(out, std::int32_t{-1});  // a length of -1 is null
  }
}

// The header of an array in PostgreSQL's binary format; the elements follow it.
std::string array_header(std::size_t size, std::uint32_t element, bool may_have_nulls) {
  std::string out;
  append_number(out, std::int32_t{size == 0 ? 0 : 1});  // dimensions
  append_number(out, std::int32_t{may_have_nulls ? 1 : 0});
  append_number(out, element);
  if (size == 0) return out;
  append_number(out, static_cast<std::int32_t>(size));
  append_number(out, std::int32_t{1});  // the first index
  return out;
}

template <typename T>
std::string array_of(std::span<const T> values, std::uint32_t element, bool may_have_nulls) {
  std::string out = array_header(values.size(), element, may_have_nulls);
  for (const T& value : values) append_element(out, value);
  return out;
}

std::string bigint_of(std::int64_t value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace

// The binary format of a row: its size, the number of columns, then type, length and bytes of each.
void RecordArray::begin_row(std::size_t columns) {
  ++count_;
  row_ = rows_.size();
  append_number(rows_, std::int32_t{0});  // end_row() writes the size of the row here
  append_number(rows_, static_cast<std::int32_t>(columns));
}

void RecordArray::end_row() {
  std::string size;
  append_number(size, static_cast<std::int32_t>(rows_.size() - row_ - sizeof(std::int32_t)));
  rows_.replace(row_, size.size(), size);
}

void RecordArray::add_column(std::int64_t value) {
  append_number(rows_, kBigint);
  append_element(rows_, value);
}

void RecordArray::add_column(std::string_view value) {
  append_number(rows_, kText);
  append_number(rows_, static_cast<std::int32_t>(value.size()));
  rows_ += value;
}

void RecordArray::add_null(std::uint32_t type) {
  append_number(rows_, type);
  append_number(rows_, std::int32_t{-1});  // a length of -1 is null
}

void RecordArray::add_column(const std::optional<std::int64_t>& value) {
  value ? add_column(*value) : add_null(kBigint);
}

void RecordArray::add_column(const std::optional<std::string>& value) {
  value ? add_column(std::string_view(*value)) : add_null(kText);
}

Params& Params::add_value(std::uint32_t type, std::string bytes) {
  values_.push_back({type, false, std::move(bytes)});
  return *this;
}

Params& Params::add_null(std::uint32_t type) {
  values_.push_back({type, true, {}});
  return *this;
}

Params& Params::add_number(std::int64_t value) { return add_value(kBigint, bigint_of(value)); }

Params& Params::add(std::string_view value) { return add_value(kText, std::string(value)); }

Params& Params::add(std::optional<std::int64_t> value) { return value ? add(*value) : add_null(kBigint); }

Params& Params::add(std::optional<std::string_view> value) { return value ? add(*value) : add_null(kText); }

Params& Params::add(std::span<const std::int64_t> values) {
  return add_value(kBigintArray, array_of(values, kBigint, false));
}

Params& Params::add(std::span<const std::optional<std::int64_t>> values) {
  return add_value(kBigintArray, array_of(values, kBigint, true));
}

Params& Params::add(std::span<const std::string> values) {
  return add_value(kTextArray, array_of(values, kText, false));
}

Params& Params::add(std::span<const std::optional<std::string>> values) {
  return add_value(kTextArray, array_of(values, kText, true));
}

// The oid differs between databases, so the connection fills it in when it sends the call.
void Params::EncodedParam::set_record_type(std::uint32_t oid) {
  constexpr std::size_t kElementType = 2 * sizeof(std::int32_t);  // offset in array_header()
  std::string number;
  append_number(number, oid);
  bytes.replace(kElementType, number.size(), number);
}

Params& Params::add(const RecordArray& records) {
  values_.push_back({0, false, array_header(records.count_, 0, false) + records.rows_, records.type_});
  return *this;
}

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

std::size_t Rows::size() const { return static_cast<std::size_t>(PQntuples(result_.get())); }

int Rows::columns() const { return PQnfields(result_.get()); }

std::string_view Rows::column_name(int column) const { return PQfname(result_.get(), column); }

bool Rows::is_null(std::size_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::int64_t Rows::number(std::size_t row, int column) const {
  const std::string_view bytes = text(row, column);
  EVENTQ_ASSERT(!is_null(row, column) && bytes.size() == sizeof(std::int64_t));
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(bits);
}

std::string_view Rows::text(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

std::optional<std::int64_t> Rows::maybe_number(std::size_t row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return number(row, column);
}

std::optional<std::string> Rows::maybe_text(std::size_t row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string(text(row, column));
}

}  // namespace eventq::postgres
