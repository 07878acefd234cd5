import { AppError } from '#core/contracts/errors.ts';
import { parseJsonObject } from '#core/http/parse-request.ts';

test.each<[string, Uint8Array]>([
  ['no bytes', Buffer.from('')],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
  ['half an object', Buffer.from('{"a":')],
  ['null', Buffer.from('null')],
  ['a list', Buffer.from('[]')],
  ['a text', Buffer.from('"a"')],
  ['a nesting of a million lists', Buffer.from('['.repeat(1_000_000))],
])('a body of %s is refused as no JSON object, and is no fault of ours (A63)', (_name, bytes) => {
  expect(() => parseJsonObject(bytes)).toThrow(new AppError('invalid_body'));
});
