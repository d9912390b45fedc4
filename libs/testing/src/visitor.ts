/**
 * Simulates a browser that visits a service: it sends cookies, forms and Fetch Metadata. It does not follow
 * redirects by itself.
 */
import { request } from 'undici';

export interface VisitorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The target of a redirect. */
  readonly location: string;
  readonly body: Record<string, unknown>;
}

/** Additional headers. Undefined removes a header. */
export type VisitorHeaders = Readonly<Record<string, string | undefined>>;

/** A browser with its cookies. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  /** Opens an address, like a link. */
  open(url: string, headers?: VisitorHeaders): Promise<VisitorAnswer>;
  /** Submits a form as a page of the same origin. */
  submit(url: string, form: Record<string, string>, headers?: VisitorHeaders): Promise<VisitorAnswer>;
  /** Sends the given body with the headers that a browser sends from a page of the same origin. */
  post(url: string, body: string, headers?: VisitorHeaders): Promise<VisitorAnswer>;
}

/** Creates a visitor. `base` returns the address of the service at the time of a visit. */
export function createVisitor(base: () => string): Visitor {
  const cookies = new Map<string, string>();
  const send = async (
    method: 'GET' | 'POST',
    at: string,
    headers: VisitorHeaders,
    body?: string,
  ): Promise<VisitorAnswer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const given: VisitorHeaders = { ...(cookie !== '' && { cookie }), 'user-agent': 'Spec 1.0', ...headers };
    const kept = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const answer = await request(new URL(at, base()), {
      ...{ method, headers: Object.fromEntries(kept) },
      ...(body !== undefined && { body }),
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json');
    return {
      ...{ status: answer.statusCode, headers: answer.headers, text },
      location: String(answer.headers['location'] ?? ''),
      body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  };
  const post: Visitor['post'] = (at, body, headers = {}) =>
    send('POST', at, { origin: base(), 'sec-fetch-site': 'same-origin', ...headers }, body);
  return {
    cookies,
    post,
    open: (at, headers = {}) => send('GET', at, { 'sec-fetch-site': 'none', ...headers }),
    submit: (at, form, headers = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return post(at, new URLSearchParams(form).toString(), { ...type, ...headers });
    },
  };
}
