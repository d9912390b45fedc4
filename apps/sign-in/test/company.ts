/** A company's own issuer of OpenID Connect: oidc-provider, as a company would run it, with a page of its own to sign in on. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { newId } from '@muster/database';
import { Provider } from 'oidc-provider';
import { type Dispatcher, request } from 'undici';
import { type Browser, type Installation } from './installation.ts';

/** What the company says of one of its people. */
export interface Employee {
  readonly email?: string;
  /** Undefined: not said. */
  readonly email_verified?: boolean | undefined;
  readonly name?: string;
}

export interface Company {
  issuer(): string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By their subject; a spec adds and changes people. */
  readonly people: Map<string, Employee>;
  /** Lets people be sent back to an address. */
  allow(redirectUrl: string): void;
  /** Signs in there, as a browser that is led to the address does; answers where it is sent back to. */
  signIn(address: string, subject: string): Promise<string>;
}

const page = (path: string): string => `<!doctype html><html lang="en"><title>Acme</title>
  <form method="post" action="${path}"><label>Who are you?<input name="login" autofocus></label><button>Sign in at Acme</button></form>`;

/** Runs one for the spec file that calls it. */
export function useCompany(): Company {
  const people = new Map<string, Employee>();
  const redirectUrls = ['https://muster.invalid/not-used'];
  const [clientId, clientSecret] = ['muster', 'a secret of the company'];
  let server: Server;
  let base = '';

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(base, {
      clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUrls }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      pkce: { required: () => true },
      cookies: { keys: ['a key of the spec'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/people/${uid}` },
      findAccount: (_ctx, accountId) => ({
        accountId,
        claims: () => Promise.resolve({ sub: accountId, ...people.get(accountId) }),
      }),
    });
    // The list of the client is read at each request, as it is then.
    const redirectAllowed = (_url: string): boolean => redirectUrls.includes(_url);
    Object.assign(provider.Client.prototype as object, { redirectUriAllowed: redirectAllowed });
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/people/')) {
        await next();
        return;
      }
      if (ctx.method === 'GET') {
        ctx.type = 'html';
        ctx.body = page(ctx.path);
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of ctx.req as AsyncIterable<Buffer>) chunks.push(chunk);
      const login = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? '';
      const { params } = await provider.interactionDetails(ctx.req, ctx.res);
      const grant = new provider.Grant({ accountId: login, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid email profile');
      const result = { login: { accountId: login }, consent: { grantId: await grant.save() } };
      await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
      ctx.respond = false;
    });
    const answer = provider.callback();
    server.on('request', (incoming, outgoing) => {
      void answer(incoming, outgoing);
    });
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  return {
    ...{ people, clientId, clientSecret },
    issuer: () => base,
    allow: (redirectUrl) => {
      redirectUrls.push(redirectUrl);
    },
    signIn: async (address, subject) => {
      const cookies = new Map<string, string>();
      let [at, body]: [string, string | undefined] = [address, undefined];
      for (let step = 0; step < 10; step += 1) {
        const answer: Dispatcher.ResponseData = await request(at, {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
            'content-type': 'application/x-www-form-urlencoded',
          },
          ...(body !== undefined && { body }),
        });
        const text = await answer.body.text();
        for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = answer.headers['location'];
        if (typeof location === 'string') {
          [at, body] = [new URL(location, at).href, undefined];
          if (new URL(at).origin !== base) return at;
        } else if (text.includes('Who are you?')) body = new URLSearchParams({ login: subject }).toString();
        else throw new Error(`the company answered ${answer.statusCode}: ${text}`);
      }
      throw new Error('the company led nowhere');
    },
  };
}

/** An organization whose people sign in at a company, by addresses of a domain of its own. */
export interface Named {
  readonly orgId: string;
  readonly domain: string;
  readonly providerId: string;
  /** Of the organization's owner, who is signed in. */
  readonly owner: Browser;
  /** A member whose address has the domain; and what the company says of them besides. */
  employee(claims?: Employee): Promise<{ email: string; subject: string; memberId: string }>;
}

export async function nameCompany(installation: Installation, company: Company): Promise<Named> {
  const { world } = installation;
  const { orgId, ana } = await world.org();
  const domain = `${newId()}.example`;
  const address = `ana@${domain}`;
  await world.rows('update members set email = $2 where id = $1', ana.me.memberId, address);
  const owner = await installation.signIn(address);
  const { clientId, clientSecret } = company;
  const { status, body } = await owner.call(orgId, 'identityProviders.upsert', {
    ...{ issuer: company.issuer(), clientId, clientSecret, name: 'Acme Login', domains: [domain] },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { id: providerId, redirectUrl } = body['provider'] as { id: string; redirectUrl: string };
  company.allow(redirectUrl);
  // What a worker finds in the DNS.
  await world.rows(
    'update identity_provider_domains set proven_at = now() where provider_id = $1',
    providerId,
  );
  return {
    ...{ orgId, domain, providerId, owner },
    employee: async (claims = {}) => {
      const subject = newId();
      const email = `${subject}@${domain}`;
      const { me } = await world.member(orgId, `Eve ${subject}`, 'member');
      await world.rows('update members set email = $2 where id = $1', me.memberId, email);
      company.people.set(subject, { email, email_verified: true, name: 'Eve Example', ...claims });
      return { email, subject, memberId: me.memberId };
    },
  };
}
