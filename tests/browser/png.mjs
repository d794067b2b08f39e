// PNG pictures as plain pixels, read and written without a package: 8 bits a channel, RGB or RGBA, not interlaced, which is what
// Chromium's screenshots and our stored pictures are.
//
//   const image = readPng(buffer);   // { width, height, rgb: Uint8Array of 3 bytes a pixel }
//   writeFileSync(name, writePng(image));
//
// Cost: a second for ten megapixels. Anything else in a file is refused by name.

import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RGB = 2;
const RGBA = 6;

// Undoes one row's filter in place; `above` is the row before it.
function unfilter(kind, row, above, channels) {
  for (let i = 0; i < row.length; ++i) {
    const left = i < channels ? 0 : row[i - channels];
    const up = above[i];
    if (kind === 1) row[i] += left;
    else if (kind === 2) row[i] += up;
    else if (kind === 3) row[i] += (left + up) >> 1;
    else if (kind === 4) {
      const corner = i < channels ? 0 : above[i - channels];
      const a = Math.abs(up - corner);
      const b = Math.abs(left - corner);
      const c = Math.abs(left + up - 2 * corner);
      row[i] += a <= b && a <= c ? left : b <= c ? up : corner;
    }
  }
}

export function readPng(file) {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG file');
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts = [];
  for (let at = 8; at + 8 <= file.length; ) {
    const size = file.readUInt32BE(at);
    const kind = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + size);
    if (kind === 'IHDR') {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      if (body[8] !== 8 || (body[9] !== RGB && body[9] !== RGBA) || body[12] !== 0) throw new Error('only 8-bit RGB or RGBA without interlacing is read');
      channels = body[9] === RGB ? 3 : 4;
    } else if (kind === 'IDAT') parts.push(body);
    at += size + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const rgb = new Uint8Array(width * height * 3);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; ++y) {
    const row = new Uint8Array(raw.buffer, raw.byteOffset + y * (stride + 1) + 1, stride);
    unfilter(raw[y * (stride + 1)], row, above, channels);
    for (let x = 0; x < width; ++x) for (let c = 0; c < 3; ++c) rgb[(y * width + x) * 3 + c] = row[x * channels + c];
    above = row;
  }
  return { width, height, rgb };
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let i = 0; i < 8; ++i) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function chunk(kind, body) {
  const out = Buffer.alloc(body.length + 12);
  out.writeUInt32BE(body.length, 0);
  out.write(kind, 4, 'latin1');
  body.copy(out, 8);
  let crc = 0xffffffff;
  for (let i = 4; i < body.length + 8; ++i) crc = CRC[(crc ^ out[i]) & 0xff] ^ (crc >>> 8);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 8);
  return out;
}

export function writePng({ width, height, rgb }) {
  const stride = width * 3;
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; ++y) {
    // Flat ground, lines and text: the row above tells most.
    raw[y * (stride + 1)] = 2;
    for (let i = 0; i < stride; ++i) raw[y * (stride + 1) + 1 + i] = rgb[y * stride + i] - (y > 0 ? rgb[(y - 1) * stride + i] : 0);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  head[9] = RGB;
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(raw, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

// Each pixel of the result is the mean of a square of `factor` pixels: what is left is what one sees from some way off, and the edges
// of letters, which differ from one font library to the next, are gone.
export function shrink({ width, height, rgb }, factor) {
  const small = { width: Math.floor(width / factor), height: Math.floor(height / factor) };
  const out = new Uint8Array(small.width * small.height * 3);
  for (let y = 0; y < small.height; ++y) {
    for (let x = 0; x < small.width; ++x) {
      for (let c = 0; c < 3; ++c) {
        let sum = 0;
        for (let dy = 0; dy < factor; ++dy) for (let dx = 0; dx < factor; ++dx) sum += rgb[((y * factor + dy) * width + x * factor + dx) * 3 + c];
        out[(y * small.width + x) * 3 + c] = Math.round(sum / factor ** 2);
      }
    }
  }
  return { ...small, rgb: out };
}

// Every channel as the nearest multiple of `step`.
export function coarse({ width, height, rgb }, step) {
  return { width, height, rgb: rgb.map((value) => Math.min(255, Math.round(value / step) * step)) };
}

// The share of pixels of which a channel differs by more than `slack`; 1 when the sizes differ.
export function difference(a, b, slack) {
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differing = 0;
  for (let i = 0; i < a.rgb.length; i += 3) {
    if (Math.abs(a.rgb[i] - b.rgb[i]) > slack || Math.abs(a.rgb[i + 1] - b.rgb[i + 1]) > slack || Math.abs(a.rgb[i + 2] - b.rgb[i + 2]) > slack) ++differing;
  }
  return differing / (a.width * a.height);
}
