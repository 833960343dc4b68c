import Testing

@Suite struct CodeOnlyTests {
  @Test(arguments: [
    ("let a = 1 // b!\n", "let a = 1 \n"),
    ("/* a /* b */ c */d\n", "d\n"),
    ("/* a\nb */c\n", "\nc\n"),
    (#"f("a \"b\" // c", d)"#, #"f("", d)"#),
    (#"f("a \(g("b")) c") + 1"#, #"f("") + 1"#),
    (##"f(#"a "b" \(c)"#, d)"##, #"f("", d)"#),
    ("f(\"\"\"\n  a \"b\"\n  \"\"\", d)", "f(\"\"\n\n, d)"),
    ("func `it's \"so\"`() {}", "func `name`() {}"),
  ])
  func `only code is left and lines keep their numbers`(text: String, code: String) {
    #expect(CodeOnly.text(of: text) == code)
  }

  @Test func `what is cut off in the middle is scanned to its end`() {
    let text = "f(\"a \\(g(\"b\")) \") /* c */ `d` #\"e\"# \"\"\"\n f \"\"\""
    for count in 0...text.utf8.count {
      _ = CodeOnly.text(of: String(decoding: text.utf8.prefix(count), as: UTF8.self))
    }
  }
}
