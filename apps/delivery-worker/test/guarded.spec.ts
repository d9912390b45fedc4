/** Requests to URLs that untrusted callers chose, tested with local servers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseNetworks } from '@muster/outbound';
import getTlsOptions from 'smtp-server/lib/tls-options.js';
import { createSender, type Sender } from '@muster/outbound/sender';
import { openReceiver, type PushReceiver } from './receiver.ts';

const loopback = parseNetworks('127.0.0.0/8:*');
const webhookRequest = { headers: { 'webhook-id': 'one' }, body: '{"type":"x","data":{}}' };
let receiver: PushReceiver;
let senders: Sender[];
let cleanups: (() => Promise<void>)[];

beforeEach(async () => {
  receiver = await openReceiver();
  senders = [];
  cleanups = [];
});
afterEach(async () => {
  for (const sender of senders) sender.close();
  for (const close of cleanups) await close();
  await receiver.close();
});

const senderWith = (options: Parameters<typeof createSender>[0]): Sender => {
  const sender = createSender(options);
  senders.push(sender);
  return sender;
};
const to = (host: string): string => receiver.url.replace('127.0.0.1', host);

describe('an answer that is read', () => {
  const answering = (body: Buffer): Promise<string> =>
    new Promise((resolve) => {
      const server = createServer((request, response) => {
        response.writeHead(request.method === 'GET' ? 200 : 405, { etag: '"one"' }).end(body);
      });
      cleanups.push(() => new Promise((done) => server.close(() => done())));
      server.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      });
    });

  it('is whole, with its headers', async () => {
    const url = await answering(Buffer.alloc(1024 * 1024, 'x'));
    const { status, headers, text } = await senderWith({ networks: loopback }).ask({
      ...{ method: 'GET', url, headers: {} },
    });
    expect([status, headers['etag'], text.length]).toEqual([200, '"one"', 1024 * 1024]);
  });

  it('is none where it is larger than the limit', async () => {
    const url = await answering(Buffer.alloc(1024 * 1024 + 1, 'x'));
    const asking = senderWith({ networks: loopback }).ask({ method: 'GET', url, headers: {} });
    await expect(asking).rejects.toThrow('larger than the limit');
  });

  it('is asked of no forbidden address', async () => {
    const url = await answering(Buffer.from('here'));
    const asking = senderWith({ networks: [] }).ask({ method: 'GET', url, headers: {} });
    await expect(asking).rejects.toThrow('not sent');
  });
});

describe('a name', () => {
  it('that leads to a forbidden address is not connected to', async () => {
    const sender = senderWith({ networks: [] });
    await expect(sender.post({ ...webhookRequest, url: to('localhost') })).rejects.toThrow(
      'not sent: the address points to an address outside the public internet',
    );
    expect(receiver.received).toEqual([]);
  });

  it('with one forbidden address among others is not connected to', async () => {
    const sender = senderWith({
      networks: loopback,
      resolve: async () => [
        { address: '127.0.0.1', family: 4 },
        { address: '169.254.169.254', family: 4 },
      ],
    });
    await expect(sender.post({ ...webhookRequest, url: to('hooks.example') })).rejects.toThrow(
      'never sends to',
    );
    expect(receiver.received).toEqual([]);
  });

  it('that says something else the second time is looked up once for a connection, and that counts', async () => {
    // A DNS rebinding attack: an allowed address for the check, a forbidden one for the connection.
    const asked: string[] = [];
    const answers = ['127.0.0.1', '10.0.0.1'];
    const sender = senderWith({
      networks: loopback,
      resolve: async (host) => {
        asked.push(host);
        return [{ address: answers[asked.length - 1] ?? '10.0.0.1', family: 4 }];
      },
    });
    expect(await sender.post({ ...webhookRequest, url: to('rebound.example') })).toMatchObject({
      status: 200,
    });
    expect(asked).toEqual(['rebound.example']);
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers.host).toBe(`rebound.example:${new URL(receiver.url).port}`);
    // A persistent connection keeps its checked address. A new connection resolves and checks the address
    // again.
    expect(await sender.post({ ...webhookRequest, url: to('rebound.example') })).toMatchObject({
      status: 200,
    });
    sender.close();
    await expect(sender.post({ ...webhookRequest, url: to('rebound.example') })).rejects.toThrow(
      'outside the public internet',
    );
    expect(receiver.received).toHaveLength(2);
  });

  it('without an address is not sent to', async () => {
    const sender = senderWith({ networks: loopback, resolve: async () => [] });
    await expect(sender.post({ ...webhookRequest, url: to('nowhere.example') })).rejects.toThrow(
      'does not resolve to an IP address',
    );
  });

  it('is what a certificate has to be for, and what is asked for, whatever address it leads to', async () => {
    const asked: string[] = [];
    const answered: unknown[] = [];
    // An expired test certificate for another name, from the mail server's package.
    const server = createTlsServer(
      {
        ...getTlsOptions(),
        SNICallback: (name, callback) => {
          asked.push(name);
          callback(null);
        },
      },
      (request, response) => {
        answered.push(request.url);
        response.end();
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const sender = senderWith({ networks: loopback, resolve });
    await expect(sender.post({ ...webhookRequest, url: `https://hooks.example:${port}/` })).rejects.toThrow(
      /certificate/,
    );
    expect([asked, answered]).toEqual([['hooks.example'], []]);
    server.close();
  });
});

describe('an address', () => {
  it('that is named itself is checked too', async () => {
    const sender = senderWith({ networks: [] });
    await expect(sender.post({ ...webhookRequest, url: receiver.url })).rejects.toThrow('not sent');
    await expect(sender.post({ ...webhookRequest, url: to('2130706433') })).rejects.toThrow('not sent');
    await expect(sender.post({ ...webhookRequest, url: to('[::ffff:127.0.0.1]') })).rejects.toThrow(
      'not sent',
    );
    expect(receiver.received).toEqual([]);
  });
});

describe('an answer', () => {
  it('that leads elsewhere is not followed', async () => {
    receiver.answer((response) => {
      response.writeHead(302, { location: `${receiver.url}/elsewhere` });
      response.end();
    });
    expect(
      await senderWith({ networks: loopback }).post({ ...webhookRequest, url: receiver.url }),
    ).toMatchObject({
      status: 302,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('without end is read as far as 64 KiB, and kept as far as 2 KiB', async () => {
    let bytes = 0;
    receiver.answer((response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('é'.repeat(8_192))) bytes += 16_384;
        response.once('drain', more);
      };
      more();
    });
    const { status, text } = await senderWith({ networks: loopback }).post({
      ...webhookRequest,
      url: receiver.url,
    });
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048);
    expect(bytes).toBeLessThan(20_000_000);
  });

  it('that is no HTTP, or a closed connection, is an error', async () => {
    const server = createTcpServer((socket) => socket.end('hello\r\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(
      senderWith({ networks: loopback }).post({ ...webhookRequest, url: `http://127.0.0.1:${port}/` }),
    ).rejects.toThrow();
    server.close();
  });

  it('that does not come within 10 s is none', async () => {
    receiver.answer(() => undefined);
    const began = performance.now();
    await expect(
      senderWith({ networks: loopback }).post({ ...webhookRequest, url: receiver.url }),
    ).rejects.toThrow('within 10 s');
    expect(performance.now() - began).toBeLessThan(12_000);
  }, 20_000);

  it('has no part in a connection that the receiver closed meanwhile: it is made anew', async () => {
    const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
      request.resume().on('end', () => response.end(() => request.socket.destroy()));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const sender = senderWith({ networks: loopback });
    for (let nth = 0; nth < 20; nth += 1)
      expect(await sender.post({ ...webhookRequest, url })).toMatchObject({ status: 200 });
    server.close();
  });
});
