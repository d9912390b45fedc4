import { expect, it } from '@jest/globals';
import { followStream } from './stream.ts';

const replaced = {
  ...{
    code: 'conflict',
    message: 'You opened a newer event stream, which closed this one.',
    requestId: 'r',
  },
  details: { reason: 'stream_replaced', retryable: false },
};
const unread = 'event: notifications.unread\ndata: {"unread":2}\n\n';
const answers = [`id: c1\n\nretry: 1\nevent: end\ndata: ${JSON.stringify(replaced)}\n\n`, unread];

/** Opens a stream to a server that replaces its first connection and continues on the second one. */
function open(reopensWhenReplaced: boolean) {
  const places: (string | null)[] = [];
  const answer: typeof fetch = async (url) => {
    places.push(new URL(url).searchParams.get('after'));
    return new Response(answers[places.length - 1], { headers: { 'content-type': 'text/event-stream' } });
  };
  const stream = followStream({
    baseUrl: 'http://muster.example',
    token: 't',
    fetch: answer,
    reopensWhenReplaced,
  });
  return { places, stream };
}

it('throws that a newer stream took the place of its own', async () => {
  const { places, stream } = open(false);
  await expect(stream.next()).rejects.toMatchObject({ reason: 'stream_replaced' });
  expect(places).toEqual(['latest']);
});

it('opens a replaced stream again where it was, if told so', async () => {
  const { places, stream } = open(true);
  expect((await stream.next()).value).toMatchObject({ type: 'unread', unread: 2 });
  expect(places).toEqual(['latest', 'c1']);
  await stream.return();
});

it('goes on after the last item of the inbox that arrived', async () => {
  const asked: (string | null)[] = [];
  const itemOf = (seq: number) => `event: inbox.item\ndata: {"seq":${seq},"kind":"withheld"}\n\n`;
  const answer: typeof fetch = async (url) => {
    asked.push(new URL(url).searchParams.get('inboxAfter'));
    return new Response(`retry: 1\n${itemOf(asked.length + 6)}`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  };
  const options = { baseUrl: 'http://muster.example', token: 't', fetch: answer, inboxAfter: 6 };
  const stream = followStream(options);
  expect([(await stream.next()).value, (await stream.next()).value]).toMatchObject([
    { type: 'inbox', item: { seq: 7 } },
    { type: 'inbox', item: { seq: 8 } },
  ]);
  expect(asked).toEqual(['6', '7']);
  await stream.return();
});
