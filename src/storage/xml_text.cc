#include "src/storage/xml_text.h"

#include <charconv>
#include <cstdint>

namespace strobe::storage {
namespace {

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (code >> 6)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | (code >> 12)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | (code >> 18)));
    out->push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

bool AppendEntity(std::string_view entity, std::string* out) {
  if (entity == "lt") return out->push_back('<'), true;
  if (entity == "gt") return out->push_back('>'), true;
  if (entity == "amp") return out->push_back('&'), true;
  if (entity == "quot") return out->push_back('"'), true;
  if (entity == "apos") return out->push_back('\''), true;
  if (!entity.starts_with('#')) return false;
  entity.remove_prefix(1);
  int base = 10;
  if (entity.starts_with('x')) {
    base = 16;
    entity.remove_prefix(1);
  }
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(entity.data(), entity.data() + entity.size(), code, base);
  if (error != std::errc() || end != entity.data() + entity.size()) return false;
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  AppendUtf8(code, out);
  return true;
}

bool AppendText(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t at = text.find('&');
    out->append(text.substr(0, at));
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
    const size_t end = text.find(';');
    if (end == std::string_view::npos || !AppendEntity(text.substr(0, end), out)) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<XmlElement> Parse() {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    XmlElement root;
    if (!SkipToTag() || !Element(&root, 0)) return std::nullopt;
    return root;
  }

 private:
  bool SkipPast(std::string_view end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }

  // Past declarations and comments to the next element's "<".
  bool SkipToTag() {
    while (true) {
      const size_t at = rest_.find('<');
      if (at == std::string_view::npos) return false;
      rest_.remove_prefix(at);
      if (rest_.starts_with("<?")) {
        if (!SkipPast("?>")) return false;
      } else if (rest_.starts_with("<!--")) {
        if (!SkipPast("-->")) return false;
      } else {
        return !rest_.starts_with("<!");
      }
    }
  }

  static std::string NameOf(std::string_view tag) {
    tag = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const size_t colon = tag.rfind(':');
    return std::string(colon == std::string_view::npos ? tag : tag.substr(colon + 1));
  }

  bool Element(XmlElement* element, int depth) {
    if (depth > kMaxXmlDepth || ++elements_ > kMaxXmlElements) return false;
    const size_t end = rest_.find('>');
    if (!rest_.starts_with('<') || end == std::string_view::npos) return false;
    const std::string_view tag = rest_.substr(1, end - 1);
    element->name = NameOf(tag);
    rest_.remove_prefix(end + 1);
    if (element->name.empty()) return false;
    if (tag.ends_with('/')) return true;
    while (true) {
      const size_t at = rest_.find('<');
      if (at == std::string_view::npos) return false;
      if (!AppendText(rest_.substr(0, at), &element->text)) return false;
      rest_.remove_prefix(at);
      if (rest_.starts_with("</")) {
        const size_t close = rest_.find('>');
        if (close == std::string_view::npos) return false;
        const bool same = NameOf(rest_.substr(2, close - 2)) == element->name;
        rest_.remove_prefix(close + 1);
        return same;
      }
      if (rest_.starts_with("<![CDATA[")) {
        const size_t close = rest_.find("]]>");
        if (close == std::string_view::npos) return false;
        element->text.append(rest_.substr(9, close - 9));
        rest_.remove_prefix(close + 3);
      } else if (rest_.starts_with("<!--")) {
        if (!SkipPast("-->")) return false;
      } else if (rest_.starts_with("<?") || rest_.starts_with("<!")) {
        return false;
      } else {
        element->children.emplace_back();
        if (!Element(&element->children.back(), depth + 1)) return false;
      }
    }
  }

  std::string_view rest_;
  size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  for (const XmlElement& element : children) {
    if (element.name == child) return &element;
  }
  return nullptr;
}

std::vector<const XmlElement*> XmlElement::All(std::string_view child) const {
  std::vector<const XmlElement*> found;
  for (const XmlElement& element : children) {
    if (element.name == child) found.push_back(&element);
  }
  return found;
}

std::string XmlElement::Text(std::string_view child) const {
  const XmlElement* const element = Find(child);
  return element == nullptr ? "" : element->text;
}

std::optional<XmlElement> ParseXml(std::string_view text) { return Parser(text).Parse(); }

}  // namespace strobe::storage
