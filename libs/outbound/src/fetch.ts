/**
 * A `fetch` for libraries, over connections that are guarded like those of webhooks. It does not follow
 * redirects.
 */
import { exceededJsonLimit } from '@muster/contract';
import { type Sender } from './sender.ts';

interface GuardedFetchOptions {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | Headers | undefined;
  readonly body?: unknown;
}

/**
 * Throws the errors of the sender. It also throws for methods and bodies that the sender does not support,
 * and for JSON beyond the limits, because callers would parse it.
 */
export const guardedFetch =
  (sender: Sender) =>
  async (
    url: string | URL,
    { method = 'GET', headers = {}, body }: GuardedFetchOptions = {},
  ): Promise<Response> => {
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`the method ${method} is not supported`);
    const isForm = body instanceof URLSearchParams;
    if (body != null && !isForm && typeof body !== 'string')
      throw new TypeError('only text bodies are supported');
    const sent = Object.fromEntries(new Headers(headers));
    if (isForm) sent['content-type'] ??= 'application/x-www-form-urlencoded;charset=UTF-8';
    const {
      status,
      text,
      headers: answered,
    } = await sender.ask({
      ...{ method, url: String(url), headers: sent },
      ...(body != null && { body: String(body) }),
    });
    if (/^[[{]/.test(text.trimStart()) && exceededJsonLimit(text) !== undefined)
      throw new SyntaxError('The response is JSON that is nested too deeply or has too many values.');
    const responseHeaders = Object.entries(answered).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
    );
    // The constructor of Response rejects a body for these statuses.
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(hasBody ? text : null, { status, headers: responseHeaders });
  };
