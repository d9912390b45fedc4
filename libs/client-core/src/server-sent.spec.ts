import { expect, it } from '@jest/globals';
import { parseServerSentEvents } from './server-sent.ts';

const bodyOf = (pieces: readonly (string | Uint8Array)[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
      controller.close();
    },
  });
const read = (...pieces: (string | Uint8Array)[]) => Array.fromAsync(parseServerSentEvents(bodyOf(pieces)));
const emptyEvent = { event: 'message', data: undefined, id: undefined, retry: undefined };

it('reads names, data of several lines, ids and pauses', async () => {
  expect(
    await read('id: 1\ndata: a\ndata:b\ndata\n\n', ': a comment\nevent: end\ndata: {}\n\nretry: 500\n\n'),
  ).toEqual([
    { ...emptyEvent, id: '1', data: 'a\nb\n' },
    { ...emptyEvent, event: 'end', data: '{}' },
    { ...emptyEvent, retry: 500 },
  ]);
});

it('tells of an id by itself', async () => {
  expect(await read('id: 7\n\n')).toEqual([{ ...emptyEvent, id: '7' }]);
});

it.each(['\n', '\r', '\r\n'])('takes lines that end with %j, cut at any byte', async (end) => {
  const text = new TextEncoder().encode(['id: 1', 'data: Grüße 👋', '', 'data: two', '', ''].join(end));
  const whole = [
    { ...emptyEvent, id: '1', data: 'Grüße 👋' },
    { ...emptyEvent, data: 'two' },
  ];
  for (let at = 1; at < text.length; at += 1)
    expect(await read(text.slice(0, at), text.slice(at), '\n')).toEqual(whole);
});

it('leaves out what the end cut off', async () => {
  expect(await read('data: whole\n\ndata: ha')).toEqual([{ ...emptyEvent, data: 'whole' }]);
});

it('takes no id with a null, nor a pause that is no number', async () => {
  expect(await read('id: a\0b\nretry: soon\ndata: x\n\n')).toEqual([{ ...emptyEvent, data: 'x' }]);
});
