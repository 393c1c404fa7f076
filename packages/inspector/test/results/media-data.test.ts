import { describe, expect, it } from "vitest";
import {
  base64Bytes,
  base64Size,
  fileNameOf,
  hexLines,
  isBase64Data,
  isInlineImage,
  mediaAddress,
} from "../../page/results/media-data.js";

const PNG = "iVBORw0KGgo=";

describe("a picture or a sound", () => {
  it("is shown as data", () => {
    expect(mediaAddress("image", "image/png", PNG)).toEqual({ address: `data:image/png;base64,${PNG}` });
    expect(mediaAddress("image", "IMAGE/SVG+XML; charset=utf-8", PNG)).toEqual({
      address: `data:image/svg+xml;base64,${PNG}`,
    });
    expect(mediaAddress("audio", "audio/wav", "UklG\nRg==")).toEqual({ address: "data:audio/wav;base64,UklGRg==" });
  });

  it.each([
    ["image", "text/html", PNG],
    ["image", "image/svg+xml,<svg onload=alert(1)>", PNG],
    ["image", "application/xhtml+xml", PNG],
    ["image", undefined, PNG],
    ["audio", "image/png", PNG],
    ["audio", "audio/x,<script>", PNG],
    ["image", "image/png", "<svg onload=alert(1)>"],
    ["image", "image/png", "https://example.com/a.png"],
    ["image", "image/png", "A".repeat(5)],
    ["image", "image/png", "A".repeat(33 * 1024 * 1024)],
  ] as const)("is refused as %s of type %s", (kind, type, data) => {
    expect(mediaAddress(kind, type, data)).toHaveProperty("refused");
  });

  it("inside a text is shown only if the text carries it", () => {
    expect(isInlineImage(`data:image/png;base64,${PNG}`)).toBe(true);
    expect(isInlineImage("data:image/svg+xml,%3Csvg%3E")).toBe(true);
    for (const address of [
      "https://example.com/a.png",
      "//example.com/a.png",
      "a.png",
      "data:text/html,<script>",
      "data:,x",
      "javascript:alert(1)",
      "blob:http://127.0.0.1/1",
      " data:image/png;base64,x",
    ]) {
      expect([address, isInlineImage(address)]).toEqual([address, false]);
    }
  });
});

describe("binary data", () => {
  it("is base64 or not", () => {
    for (const good of ["", "QQ==", "QUI=", "QUJD", "QUJ D\nQUJD", "QQ"])
      expect([good, isBase64Data(good)]).toEqual([good, true]);
    for (const bad of ["Q", "Q===", "QQ=Q", "_-_-", "é"]) expect([bad, isBase64Data(bad)]).toEqual([bad, false]);
  });

  it("has a size and bytes", () => {
    expect([base64Size(""), base64Size("QQ=="), base64Size("QUI="), base64Size("QUJD")]).toEqual([0, 1, 2, 3]);
    expect([...base64Bytes("QUJD")]).toEqual([65, 66, 67]);
    expect([...base64Bytes("no base64!")]).toEqual([]);
  });

  it("is shown as lines of hexadecimal", () => {
    const data = btoa("Hello\u0000World, this is more");
    expect(hexLines(data, 20)).toBe(
      "000000  48 65 6c 6c 6f 00 57 6f 72 6c 64 2c 20 74 68 69  Hello.World, thi\n000010  73 20 69 73                                      s is",
    );
  });
});

describe("the name of a saved file", () => {
  it.each([
    ["file:///a/b/report.pdf", "report.pdf"],
    ["https://example.com/a.txt?b=/c#d", "a.txt"],
    ["file:///../../etc/passwd", "passwd"],
    ["x://...", "content"],
    ["", "content"],
    ["a://b/.bashrc", "bashrc"],
    ["a://b/evil\u202egnp.exe", "evil-gnp.exe"],
    ["a://b/c\\..\\d", "c-..-d"],
  ])("of %j is %j", (uri, name) => {
    expect(fileNameOf(uri)).toBe(name);
  });
});
