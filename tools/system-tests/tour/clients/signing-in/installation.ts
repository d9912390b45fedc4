/**
 * Starts an installation where people sign in. Its single address can omit from its metadata that it accepts
 * client ID documents.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, httpTransport, type Client } from '@muster/client';
import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { findFreePort } from '@muster/testing/ports';
import { createOrganization, createToken } from '@muster/organizations';
import { startPostgres, startThrowAwayApi, startThrowAwayApp } from '@muster/tools';

export interface SigningIn {
  readonly baseUrl: string;
  /** A client with the owner's token. */
  readonly owner: Client;
  /** Sets whether the server's metadata says that a document's address can be a client ID. */
  takesDocuments(does: boolean): void;
  stop(): Promise<void>;
}

const ownerEmail = 'ana@clients.example';
const metadataPath = '/.well-known/oauth-authorization-server';

/** Forwards each request unchanged. */
function openEdge(target: () => string, takesDocuments: () => boolean): Server {
  return createServer((asked, answer) => {
    const { url = '/', method = 'GET', headers } = asked;
    const onward = request(new URL(url, target()), { method, headers }, (response) => {
      const { statusCode = 502 } = response;
      if (url !== metadataPath || takesDocuments()) {
        answer.writeHead(statusCode, response.headers);
        response.pipe(answer);
        return;
      }
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const { client_id_metadata_document_supported: _, ...rest } = JSON.parse(
          Buffer.concat(pieces).toString(),
        ) as Record<string, unknown>;
        answer.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(rest));
      });
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
}

export async function bringUpSigningIn(): Promise<SigningIn> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-clients-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const one of stops.toReversed()) await one();
  };
  try {
    let [apiUrl, takes] = ['', true];
    const edge = openEdge(
      () => apiUrl,
      () => takes,
    ).listen(0, '127.0.0.1');
    await once(edge, 'listening');
    stops.push(async () => {
      edge.close();
      edge.closeAllConnections();
    });
    const baseUrl = `http://127.0.0.1:${(edge.address() as AddressInfo).port}`;
    const postgres = await startPostgres({ durable: false });
    stops.push(() => postgres.stop());
    await migrate(postgres.url);
    const own = { DATABASE_URL: postgres.url, BASE_URL: baseUrl };
    const start = async (
      name: 'sign-in' | 'mcp-gateway',
      port: number,
      environment: Record<string, string>,
    ): Promise<void> => {
      const app = await startThrowAwayApp(name, { log: 'warn', port, environment });
      stops.push(() => app.stop());
    };
    const gatewayKey = randomBytes(24).toString('hex');
    const [signInPort, gatewayPort] = [await findFreePort(), await findFreePort()];
    await start('sign-in', signInPort, {
      ...{ ...own, MAIL_FOLDER: folder, DEMO_ACCOUNT: ownerEmail, OAUTH_DYNAMIC_REGISTRATION: 'on' },
    });
    const api = await startThrowAwayApi({
      ...{ databaseUrl: postgres.url, log: 'warn' },
      environment: {
        ...{ ...own, SIGN_IN_URL: `http://127.0.0.1:${signInPort}` },
        ...{ MCP_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`, MCP_GATEWAY_KEY: gatewayKey },
      },
    });
    stops.push(() => api.stop());
    apiUrl = api.url;
    await start('mcp-gateway', gatewayPort, {
      ...{ COORDINATION_API_URL: baseUrl, OAUTH_ISSUER: baseUrl, MCP_GATEWAY_KEY: gatewayKey },
    });
    const slug = `clients-${randomBytes(4).toString('hex')}`;
    const pool = createPool({ url: postgres.url, role: null, max: 1 });
    try {
      await createOrganization(pool, {
        ...{ name: 'Clients', slug, plan: 'team', owner: { email: ownerEmail, name: 'Ana' } },
      });
      const { token } = await createToken(pool, {
        ...{ org: slug, member: ownerEmail, name: 'clients', scopes: ['admin'] },
      });
      return {
        ...{ baseUrl, stop, takesDocuments: (does) => (takes = does) },
        owner: createClient(httpTransport({ baseUrl, token })),
      };
    } finally {
      await pool.end();
    }
  } catch (error) {
    await stop();
    throw error;
  }
}
