/**
 * An OpenID Connect issuer of a company: oidc-provider, as a company would run it, with its own sign-in page.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { Provider } from 'oidc-provider';
import { createVisitor } from './visitor.ts';

/** The claims of the company about an employee. */
export interface Employee {
  readonly email?: string;
  /** Undefined if the claim is missing. */
  readonly email_verified?: boolean | undefined;
  readonly name?: string;
  readonly groups?: readonly string[];
  /**
   * The time of the employee's sign-in according to the company, in seconds since 1970. The default is now.
   */
  readonly authTime?: number;
}

export interface CompanyIssuer {
  issuer(): string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The employees by their subject. A spec adds and changes them. */
  readonly people: Map<string, Employee>;
  /** Allows the issuer to redirect to this URL after a sign-in. */
  allowRedirect(redirectUrl: string): void;
  /** Signs in as a browser that is sent to the address. Returns the address to which it is redirected. */
  signIn(address: string, subject: string): Promise<string>;
}

const signInPage = (path: string): string => `<!doctype html><html lang="en"><title>Acme</title>
  <form method="post" action="${path}"><label>Who are you?<input name="login" autofocus></label><button>Sign in at Acme</button></form>`;

/** Runs an issuer for the calling spec file. */
export function useCompanyIssuer(): CompanyIssuer {
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
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      pkce: { required: () => true },
      cookies: { keys: ['a key of the spec'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/people/${uid}` },
      findAccount: (_ctx, accountId) => ({
        accountId,
        claims: () => Promise.resolve({ sub: accountId, ...people.get(accountId) }),
      }),
    });
    // Reads the list of allowed addresses at each request, because specs change it.
    const redirectAllowed = (_url: string): boolean => redirectUrls.includes(_url);
    Object.assign(provider.Client.prototype as object, { redirectUriAllowed: redirectAllowed });
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/people/')) {
        await next();
        return;
      }
      if (ctx.method === 'GET') {
        ctx.type = 'html';
        ctx.body = signInPage(ctx.path);
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of ctx.req as AsyncIterable<Buffer>) chunks.push(chunk);
      const login = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? '';
      const { params } = await provider.interactionDetails(ctx.req, ctx.res);
      const grant = new provider.Grant({ accountId: login, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid email profile');
      const result = {
        login: { accountId: login, ts: people.get(login)?.authTime },
        consent: { grantId: await grant.save() },
      };
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
    allowRedirect: (redirectUrl) => {
      redirectUrls.push(redirectUrl);
    },
    signIn: async (address, subject) => {
      const visitor = createVisitor(() => base);
      let answer = await visitor.open(address);
      for (let step = 0; step < 10; step += 1) {
        const { location, text, status } = answer;
        if (location !== '') {
          const at = new URL(location, base);
          if (at.origin !== base) return at.href;
          answer = await visitor.open(at.href);
        } else if (text.includes('Who are you?'))
          answer = await visitor.submit(/action="([^"]+)"/.exec(text)?.[1] ?? '', { login: subject });
        else throw new Error(`the company answered ${status}: ${text}`);
      }
      throw new Error('the company led nowhere');
    },
  };
}
