// Two functions of libstdc++.so that its archive for further libraries (libstdc++_pic.a) calls and
// lacks.
#include <istream>

template <class Char>
static std::basic_istream<Char>& ignore(std::basic_istream<Char>& stream, std::streamsize count) {
  return stream.ignore(count, std::char_traits<Char>::eof());
}

// Member functions are called as functions of the object.
std::istream& ignore_char(std::istream& stream, std::streamsize count) asm("_ZNSi6ignoreEl");
std::istream& ignore_char(std::istream& stream, std::streamsize count) {
  return ignore(stream, count);
}
std::wistream& ignore_wide(std::wistream& stream, std::streamsize count) asm(
    "_ZNSt13basic_istreamIwSt11char_traitsIwEE6ignoreEl");
std::wistream& ignore_wide(std::wistream& stream, std::streamsize count) {
  return ignore(stream, count);
}
