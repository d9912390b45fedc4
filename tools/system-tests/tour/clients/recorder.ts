/** A proxy between a client and the gateway that records their messages. */
import { z } from 'zod';
import { serveLocally } from './local-server.ts';

const Opening = z.object({
  method: z.string(),
  params: z
    .object({
      protocolVersion: z.string().optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});

/** A message of a client with its answer. */
export interface Exchange {
  /** The headers that belong to the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answer: string;
}

export interface Recorder {
  readonly url: string;
  /** Returns `initialize 2025-11-25` or another first message. Undefined if no message came. */
  readonly opening: () => string | undefined;
  readonly exchanges: () => readonly Exchange[];
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
  const exchanges: Exchange[] = [];
  const { url, close } = await serveLocally(async (request, response, body) => {
    opening ??= openingIn(body);
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && !unpassed.has(name) ? [[name, value]] : [],
    );
    const answer = await fetch(new URL(request.url ?? '/', target), {
      method: request.method ?? 'POST',
      headers,
      ...(body !== '' && { body }),
    });
    const passed = [...answer.headers].filter(([name]) => !unpassed.has(name) && name !== 'content-encoding');
    const text = await answer.text();
    const own = headers.filter(([name]) => /^(?:accept|content-type|mcp-.*)$/.test(name));
    if (body !== '') exchanges.push({ headers: Object.fromEntries(own), body, answer: text });
    response.writeHead(answer.status, Object.fromEntries(passed)).end(text);
  });
  const { pathname, search } = new URL(target);
  return {
    url: `${url}${pathname}${search}`,
    opening: () => opening,
    exchanges: () => exchanges,
    close,
  };
}
