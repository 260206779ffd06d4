#include "protocol/requests/kept_items.h"

#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

Json item(std::string_view id, std::string_view text = "Hello") {
  return Json(Json::Object{{"id", id}, {"type", "message"}, {"content", text}});
}

TEST(KeptItems, AreFoundByTheirOwnerOnly) {
  KeptItems items(1000);
  items.keep("first", item("msg_1"));
  EXPECT_EQ(items.find("first", "msg_1"), item("msg_1"));
  EXPECT_EQ(items.find("first", "msg_2"), std::nullopt);
  EXPECT_EQ(items.find("second", "msg_1"), std::nullopt);
  EXPECT_EQ(items.find("firstm", "sg_1"), std::nullopt);
}

TEST(KeptItems, MakeRoomForNewOnes) {
  const std::string text(300, 'x');
  KeptItems items(1000);
  for (const char* id : {"a", "b", "c"}) items.keep("", item(id, text));
  EXPECT_EQ(items.find("", "a"), std::nullopt);
  EXPECT_EQ(items.find("", "b"), item("b", text));
  EXPECT_EQ(items.find("", "c"), item("c", text));
  items.keep("", item("large", std::string(1000, 'x')));
  EXPECT_EQ(items.find("", "large"), std::nullopt);
  EXPECT_NE(items.find("", "c"), std::nullopt);
}

class KeptAnswers : public ServiceTest {
 protected:
  Received respond(std::string_view input, std::string_view more = "", std::string tenant = "") {
    Received received;
    service_->begin(
        {"POST", "/v1/responses",
         fmt::format(R"({{"input": {}, "max_output_tokens": 4, "temperature": 0{}}})", input, more),
         std::move(tenant)},
        sink_of(received));
    run();
    return received;
  }
  static std::string next(const Json& middle) {
    return fmt::format(R"([{{"role": "user", "content": "Hi"}}, {}, {{"role": "user", "content":
                       "Go on"}}])",
                       middle.dump());
  }
};

TEST_F(KeptAnswers, MayBeReferredTo) {
  const Json first = respond(R"("Hi")").json();
  const Json& item = at(first, "output").as_array().at(0);
  const Json reference(Json::Object{{"type", "item_reference"}, {"id", at(item, "id")}});
  const Json whole = respond(next(item)).json();
  for (const Json& short_form : {reference, Json(Json::Object{{"id", at(item, "id")}})}) {
    const Json referring = respond(next(short_form)).json();
    EXPECT_EQ(at(at(referring, "usage"), "input_tokens"), at(at(whole, "usage"), "input_tokens"));
    EXPECT_EQ(at(at(referring, "output").as_array().at(0), "content"),
              at(at(whole, "output").as_array().at(0), "content"));
  }
  EXPECT_EQ(respond(next(reference), "", "another").error(),
            fmt::format("input[1] is {}, but no such item is kept here, or no more: send the item "
                        "itself, as clients do where store is false.",
                        reference.dump()));
}

TEST_F(KeptAnswers, OfStreamsAreKeptUnlessStoreIsFalse) {
  for (const bool stores : {true, false}) {
    const Received stream =
        respond(R"("Hi")", fmt::format(R"(, "stream": true, "store": {})", stores));
    const size_t at_id = stream.body.find("\"msg_");
    ASSERT_NE(at_id, std::string::npos) << stream.body;
    const std::string id =
        stream.body.substr(at_id + 1, stream.body.find('"', at_id + 1) - at_id - 1);
    const Json reference(Json::Object{{"type", "item_reference"}, {"id", id}});
    EXPECT_EQ(respond(next(reference)).status, stores ? 200 : 400);
  }
}

}  // namespace
}  // namespace tokamak::protocol
