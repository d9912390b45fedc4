/** An OAuth client, and a person who consents in a browser. */
import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@muster/driver';
import { gatewayKeyHeader } from '@muster/http';
import { type People } from '@muster/testing';
import { request } from 'undici';
import { type VisitedPage, type Browser, gatewayKey, type Installation } from './installation.ts';

export interface OAuthTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
}

export interface OAuthReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

export const redirectUri = 'http://127.0.0.1:4711/callback';

export interface OAuthTestClient {
  readonly id: string;
  readonly verifier: string;
  readonly challenge: string;
  /** Returns the authorization URL with changed parameters; undefined omits one. */
  authorizeUrl(over?: Record<string, string | undefined>): string;
  /** Sends a request as a program does. */
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<OAuthReply>;
  exchange(code: string, over?: Record<string, string>): Promise<OAuthReply>;
  refresh(token: string, over?: Record<string, string>): Promise<OAuthReply>;
}

export function clientOf(installation: Installation, id: string): OAuthTestClient {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const resource = `${installation.url()}/api/mcp`;
  const post: OAuthTestClient['post'] = async (path, form, headers = {}) => {
    const answer = await request(new URL(path, installation.url()), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    });
    const text = await answer.body.text();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  return {
    ...{ id, verifier, challenge, post },
    authorizeUrl: (over = {}) => {
      const usual: Record<string, string | undefined> = {
        ...{
          client_id: id,
          redirect_uri: redirectUri,
          response_type: 'code',
          state: 'xyz',
          scope: 'read write',
        },
        ...{ code_challenge: challenge, code_challenge_method: 'S256', resource },
      };
      const said = Object.entries({ ...usual, ...over }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      return `/oauth/authorize?${new URLSearchParams(said).toString()}`;
    },
    exchange: (code, over = {}) =>
      post('/oauth/token', {
        ...{ grant_type: 'authorization_code', client_id: id, code, redirect_uri: redirectUri },
        ...{ code_verifier: verifier, ...over },
      }),
    refresh: (token, over = {}) =>
      post('/oauth/token', { grant_type: 'refresh_token', client_id: id, refresh_token: token, ...over }),
  };
}

/** Registers a client dynamically and returns its id. */
export async function register(
  installation: Installation,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  const answer = await request(new URL('/oauth/register', installation.url()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Spec Agent', redirect_uris: [redirectUri], ...metadata }),
  });
  const body = (await answer.body.json()) as { client_id?: string };
  if (body.client_id === undefined) throw new Error(`registering was answered with ${JSON.stringify(body)}`);
  return body.client_id;
}

export const consentForm = {
  ...{ answer: 'connect', agent: 'new', agentName: 'Claude', in: 'all', scope: 'write', days: '90' },
};

/** A signed-in member, Chloé, in a new organization, who consents. */
export interface ConsentFixture {
  readonly people: People;
  readonly email: string;
  readonly browser: Browser;
  /** The submitted consent: a new agent, all projects, write access, and the longest lifetime. */
  readonly form: Readonly<Record<string, string>>;
}

export async function arrangeConsent(installation: Installation): Promise<ConsentFixture> {
  const { world } = installation;
  const people = await world.org();
  const email = `chloe-${newId()}@acme.example`;
  await world.rows('update members set email = $2 where id = $1', people.chloe.me.memberId, email);
  return {
    people,
    email,
    browser: await installation.signIn(email),
    form: { ...consentForm, org: people.orgId },
  };
}

/** Opens an authorization request in a browser, and returns the consent page or the response in its place. */
export async function openRequest(browser: Browser, address: string): Promise<VisitedPage & { at: string }> {
  const begun = await browser.open(address);
  if (begun.status !== 303 || !begun.location.startsWith('/oauth/consent/')) return { ...begun, at: '' };
  return { ...(await browser.open(begun.location)), at: begun.location };
}

/** Consents in a signed-in browser, and returns the URL that it is redirected to. */
export async function consentedAddress(
  browser: Browser,
  address: string,
  form: Record<string, string>,
): Promise<string> {
  const { at, text } = await openRequest(browser, address);
  if (at === '') throw new Error(`the request was answered with ${text}`);
  const answered = await browser.submit(at, form);
  const refresh = String(answered.headers['refresh'] ?? '');
  if (answered.status !== 200 || refresh === '')
    throw new Error(`consenting was answered with ${answered.text}`);
  return (await browser.open(refresh.replace('0;url=', ''))).location;
}

/** Consents for the usual test client, and returns the query of its redirect. */
export async function consentTo(
  browser: Browser,
  address: string,
  form: Record<string, string>,
): Promise<URLSearchParams> {
  const back = await consentedAddress(browser, address, form);
  if (!back.startsWith(redirectUri)) throw new Error(`it led to ${back}`);
  return new URL(back).searchParams;
}

/** Runs the complete flow: consent and token exchange. */
export async function connect(
  browser: Browser,
  client: OAuthTestClient,
  form: Record<string, string>,
): Promise<OAuthTokens> {
  const back = await consentTo(browser, client.authorizeUrl(), form);
  const { status, body } = await client.exchange(back.get('code') ?? '');
  if (status !== 200) throw new Error(`exchanging was answered with ${JSON.stringify(body)}`);
  return body as unknown as OAuthTokens;
}

/** Calls the API with a token, with the gateway's headers or others. */
export async function callWith(
  installation: Installation,
  token: string,
  operation: string,
  params: object = {},
  headers: Record<string, string> = { [gatewayKeyHeader]: gatewayKey },
): Promise<OAuthReply> {
  const answer = await request(new URL(`/api/${operation.replaceAll('.', '/')}`, installation.url()), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(params),
  });
  const body = (await answer.body.json()) as Record<string, unknown>;
  return { status: answer.statusCode, headers: answer.headers, body };
}
