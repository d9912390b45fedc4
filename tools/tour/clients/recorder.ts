/** A proxy between a client and the gateway that records how the client opens the connection. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { z } from 'zod';

const Opening = z.object({
  method: z.string(),
  params: z
    .object({
      protocolVersion: z.string().optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});

export interface Recorder {
  readonly url: string;
  /** Returns `initialize 2025-11-25` or another first message. Undefined if no message came. */
  readonly opening: () => string | undefined;
  close(): Promise<void>;
}

const unpassed: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

function openingIn(body: string): string | undefined {
  const { data } = Opening.safeParse(body === '' ? undefined : JSON.parse(body));
  if (data === undefined) return undefined;
  const version =
    data.params?.protocolVersion ?? data.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  return [data.method, ...(typeof version === 'string' ? [version] : [])].join(' ');
}

export async function record(target: string): Promise<Recorder> {
  let opening: string | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const body = Buffer.concat(pieces).toString();
      opening ??= openingIn(body);
      const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' && !unpassed.has(name) ? [[name, value]] : [],
      );
      const place = new URL(request.url ?? '/', target);
      const answer = await fetch(place, {
        method: request.method ?? 'POST',
        headers,
        ...(body !== '' && { body }),
      });
      const passed = [...answer.headers].filter(
        ([name]) => !unpassed.has(name) && name !== 'content-encoding',
      );
      response.writeHead(answer.status, Object.fromEntries(passed)).end(await answer.text());
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { pathname, search } = new URL(target);
  return {
    url: `http://127.0.0.1:${port}${pathname}${search}`,
    opening: () => opening,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
