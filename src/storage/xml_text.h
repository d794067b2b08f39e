// The little XML that object stores answer with: elements and text, nothing else.
//
//   const std::optional<XmlElement> root = ParseXml(body);
//   for (const XmlElement* object : root->All("Contents")) Use(object->Text("Key"));
//
// Attributes, comments and declarations are passed over; the five named entities and numeric ones
// are understood; a DOCTYPE is refused. Limits: kMaxXmlDepth, kMaxXmlElements. Memory: a copy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strobe::storage {

inline constexpr int kMaxXmlDepth = 16;
// A page of 1,000 keys has some 8 elements for each.
inline constexpr size_t kMaxXmlElements = 100'000;

struct XmlElement {
  std::string name;  // without a namespace's prefix
  std::string text;
  std::vector<XmlElement> children;

  // First child of a name; null: none.
  const XmlElement* Find(std::string_view child) const;
  std::vector<const XmlElement*> All(std::string_view child) const;
  // Text of the first child of a name, or "".
  std::string Text(std::string_view child) const;
};

std::optional<XmlElement> ParseXml(std::string_view text);

}  // namespace strobe::storage
