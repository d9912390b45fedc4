/**
 * Starts sign-in behind a coordination-api in a separate process, at one public address. Requests are like
 * those of browsers, with cookies and Fetch Metadata headers.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { allNodes } from '@muster/placement';
import {
  type AppProcess,
  findFreePort,
  withTestTimeouts,
  startApp,
  waitUntil,
  useWorld,
  type World,
} from '@muster/testing';
import {
  createVisitor,
  type Visitor,
  type VisitorAnswer,
  type VisitorHeaders,
} from '@muster/testing/visitor';
import { type SenderOptions } from '@muster/outbound/sender';
import { pino } from 'pino';
import { createSignIn, type SignInService } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

export type VisitedPage = VisitorAnswer;
export type VisitedHeaders = VisitorHeaders;

/** A browser with its own cookies. */
export interface Browser extends Omit<Visitor, 'post'> {
  /** Calls the API as a script of the same origin does. */
  call(orgId: string, operation: string, params?: object, headers?: VisitedHeaders): Promise<VisitedPage>;
  /** Returns the session cookie; throws if there is none. */
  session(): string;
}

export interface MailedLink {
  readonly token: string;
  readonly code: string;
  readonly text: string;
}

export interface Installation {
  readonly world: World;
  /** Returns the public URL. */
  url(): string;
  /** Returns the URL of sign-in itself. */
  signInUrl(): string;
  /** Returns the URL of the gateway itself. */
  gatewayUrl(): string;
  browser(): Browser;
  /** Returns the e-mails to an address. */
  mailsTo(email: string): Promise<readonly string[]>;
  /** Waits for the nth e-mail to an address and returns its link. */
  link(email: string, nth?: number): Promise<MailedLink>;
  /** Signs in by a link in a browser. */
  signIn(email: string, browser?: Browser): Promise<Browser>;
}

export interface InstallationOptions {
  readonly host?: string;
  readonly hasGateway?: boolean;
  readonly senderOptions?: SenderOptions;
  /** Non-public networks in which issuers may be called. */
  readonly networks?: string;
}

/** Proves to the API that a call comes through the gateway. */
export const gatewayKey = 'g'.repeat(32);

/** Starts the installation for the spec file that calls it. */
export function useInstallation(
  environment: Record<string, string> = {},
  {
    host = '127.0.0.1',
    hasGateway = false,
    senderOptions: outbound,
    networks = '',
  }: InstallationOptions = {},
): Installation {
  const world = useWorld({});
  let [api, gateway]: (AppProcess | undefined)[] = [];
  let signIn: SignInService | undefined;
  let [base, folder, own] = ['', '', ''];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-sign-in-'));
    const port = await findFreePort();
    base = `http://${host}:${port}`;
    const { DATABASE_NODES: nodes = '' } = environment;
    const config = readConfig({
      ...{ DATABASE_URL: world.database.url, BASE_URL: base, MAIL_FOLDER: folder, HOST: '127.0.0.1' },
      ...{ TRUST_PROXY: '127.0.0.1', LIMIT_SIGN_IN: '10000/0.001', WEBHOOK_NETWORKS: networks },
      ...environment,
    });
    signIn = await createSignIn(config, pino({ level: 'silent' }), outbound);
    for (const node of allNodes(signIn.pool)) withTestTimeouts(node.pool);
    const { address } = await signIn.service.listen({ HOST: '127.0.0.1', PORT: 0, METRICS_PORT: 0 });
    own = address;
    if (hasGateway)
      gateway = await startApp('apps/mcp-gateway/src/main.ts', {
        ...{ COORDINATION_API_URL: base, OAUTH_ISSUER: base, MCP_GATEWAY_KEY: gatewayKey },
      });
    api = await startApp('apps/coordination-api/src/main.ts', {
      ...{ PORT: String(port), BASE_URL: base, SIGN_IN_URL: address, DATABASE_URL: world.database.url },
      ...(gateway !== undefined && { MCP_GATEWAY_URL: gateway.url }),
      // The gateway's key is the second one, as during a key rotation.
      MCP_GATEWAY_KEY: `${'n'.repeat(32)},${gatewayKey}`,
      ...{ LOG_LEVEL: 'info', WEBHOOK_NETWORKS: networks, DATABASE_NODES: nodes },
    });
  });
  afterAll(async () => {
    await api?.stop();
    await gateway?.stop();
    await signIn?.service.stop();
    await signIn?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const browser = (): Browser => {
    const visitor = createVisitor(() => base);
    return {
      ...visitor,
      call: (orgId, operation, params = {}, headers = {}) =>
        visitor.post(`/api/${operation.replaceAll('.', '/')}`, JSON.stringify(params), {
          ...{ 'content-type': 'application/json', 'x-muster-org': orgId },
          ...headers,
        }),
      session: () => {
        const secret = visitor.cookies.get('muster');
        if (secret === undefined) throw new Error('this browser is not signed in');
        return secret;
      },
    };
  };

  const mailsTo = async (email: string): Promise<readonly string[]> => {
    const files = (await readdir(folder)).filter((file) => file.endsWith(`-${email}.eml`)).toSorted();
    return Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  };
  const link = async (email: string, nth = 1): Promise<MailedLink> => {
    let text = '';
    // A file may exist before it is complete.
    await waitUntil(async () => {
      const mails = await mailsTo(email);
      // Undo the quoted-printable encoding: folded lines and escaped `=`.
      text = (mails.at(-1) ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
      return mails.length >= nth && text.includes('</html>');
    });
    const [, token = ''] = /\/auth\/link\?token=([\w-]{43})/.exec(text) ?? [];
    const [code = ''] = /\b[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}\b/.exec(text) ?? [];
    return { token, code, text };
  };

  return {
    ...{ world, browser, mailsTo, link },
    url: () => base,
    signInUrl: () => own,
    gatewayUrl: () => gateway?.url ?? '',
    signIn: async (email, into = browser()) => {
      const before = (await mailsTo(email)).length;
      await into.submit('/auth/link', { email, by: 'mail' });
      const { token } = await link(email, before + 1);
      const { status } = await into.submit('/auth/link/use', { token });
      if (status !== 303) throw new Error(`signing in was answered with ${status}`);
      return into;
    },
  };
}
