#include "serve/http/proxies.h"

#include <gtest/gtest.h>

namespace tokamak::serve {
namespace {

RequestHead forwarded_for(std::string value, std::string name = "x-forwarded-for") {
  return {.method = "GET", .target = "/", .fields = {{std::move(name), std::move(value)}}};
}

TEST(Proxies, BelievesThoseThatAreNamedOnly) {
  const auto proxies = Proxies::parse({"127.0.0.1", "10.1.0.0/16", "fd00::/8"});
  ASSERT_TRUE(proxies);
  const RequestHead head = forwarded_for("192.0.2.7");
  for (const char* proxy : {"127.0.0.1", "10.1.200.3", "fd12::1", "::ffff:10.1.0.1"}) {
    EXPECT_EQ(proxies->client_of(head, proxy), "192.0.2.7") << proxy;
  }
  for (const char* stranger : {"127.0.0.2", "10.2.0.1", "fe80::1"}) {
    EXPECT_EQ(proxies->client_of(head, stranger), stranger);
  }
  EXPECT_EQ(Proxies().client_of(head, "127.0.0.1"), "127.0.0.1");
}

TEST(Proxies, TakesTheLastAddressThatIsNoProxy) {
  const auto proxies = Proxies::parse({"127.0.0.1", "10.0.0.0/8"});
  ASSERT_TRUE(proxies);
  const auto client = [&](const std::string& value) {
    return proxies->client_of(forwarded_for(value), "127.0.0.1");
  };
  EXPECT_EQ(client("1.2.3.4, 192.0.2.7, 10.0.0.1"), "192.0.2.7") << "1.2.3.4 is the client's word";
  EXPECT_EQ(client("192.0.2.7:4711"), "192.0.2.7");
  EXPECT_EQ(client("[2001:db8::1]:4711"), "2001:db8::1");
  EXPECT_EQ(client("1.2.3.4, unknown"), "127.0.0.1");
  EXPECT_EQ(client(""), "127.0.0.1");
  EXPECT_EQ(client("10.0.0.3"), "10.0.0.3") << "a proxy that asks itself";
}

TEST(Proxies, ReadsForwardedWhereTheOtherIsMissing) {
  const auto proxies = Proxies::parse({"::1"});
  ASSERT_TRUE(proxies);
  RequestHead head =
      forwarded_for("for=192.0.2.7;proto=https, FOR=\"[2001:db8::1]:80\"", "forwarded");
  EXPECT_EQ(proxies->client_of(head, "::1"), "2001:db8::1");
  head.fields.push_back({"x-forwarded-for", "192.0.2.9"});
  EXPECT_EQ(proxies->client_of(head, "::1"), "192.0.2.9");
}

TEST(Proxies, TakesNoAddressFromOtherPartsOfForwarded) {
  const auto proxies = Proxies::parse({"::1"});
  ASSERT_TRUE(proxies);
  for (const char* value : {
           R"(for=192.0.2.7;host="a,for=9.9.9.9;")",
           R"(for=192.0.2.7;host="\",for=9.9.9.9")",
           "host=for=9.9.9.9;for=192.0.2.7",
           "wait_for=9.9.9.9; For=192.0.2.7",
           R"(for="9.9.9.9, for=192.0.2.7;host="a,b")",
       }) {
    EXPECT_EQ(proxies->client_of(forwarded_for(value, "forwarded"), "::1"), "192.0.2.7") << value;
  }
}

TEST(Proxies, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "nginx", "10.0.0.0/33", "10.0.0", "::1/200"}) {
    EXPECT_FALSE(Proxies::parse({text})) << text;
  }
}

}  // namespace
}  // namespace tokamak::serve
