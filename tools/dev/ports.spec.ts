import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { findFreePort } from '@muster/testing/ports';
import { portOfApp, portsOf, readPort, refuseTakenPorts } from './ports.ts';

describe('the port of an app', () => {
  it('counts from 4100', () => {
    expect(portOfApp('coordination-api', {})).toBe(4100);
    expect(portOfApp('docs', {})).toBe(4104);
  });

  it('counts from PORT_BASE', () => {
    expect(portOfApp('license-service', { PORT_BASE: '5200' })).toBe(5202);
  });

  it('is refused where PORT_BASE leaves no room for the last of them', () => {
    expect(portOfApp('coordination-api', { PORT_BASE: '65533' })).toBe(65_533);
    expect(() => portOfApp('docs', { PORT_BASE: '65533' })).toThrow(
      'PORT_BASE leaves no port for docs: "65533" (1 to 65519)',
    );
  });

  it('is what its own variable says, over PORT_BASE', () => {
    expect(portOfApp('mcp-gateway', { PORT_BASE: '5200', MCP_GATEWAY_PORT: '81' })).toBe(81);
  });
});

describe('a port that the environment names', () => {
  it.each([undefined, ''])('is none where nothing is said (%p)', (PORT) => {
    expect(readPort('PORT', { PORT })).toBeUndefined();
  });

  it.each(['0', '65536', '41.5', 'web', '4100 '.repeat(2)])(
    'is refused with the variable when it is %p',
    (PORT) => {
      expect(() => readPort('PORT', { PORT })).toThrow(/^PORT is no port/);
    },
  );
});

describe('before anything is started', () => {
  const server = createServer();
  let taken: number;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    taken = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
  });

  it('a taken port is refused in one line that names what to set', async () => {
    const api = { name: 'coordination-api', port: taken, variable: 'COORDINATION_API_PORT' };
    await expect(refuseTakenPorts([api])).rejects.toThrow(
      `port ${taken} of coordination-api is taken by another program: set COORDINATION_API_PORT, or PORT_BASE to move all`,
    );
  });

  it('PORT_BASE is not offered for a port that it does not move', async () => {
    const postgres = { name: 'PostgreSQL', port: taken, variable: 'POSTGRES_PORT' };
    await expect(refuseTakenPorts([postgres])).rejects.toThrow(/set POSTGRES_PORT$/);
  });

  it('so is a taken port of the metrics of an app, which move with the app', async () => {
    const api = { name: 'coordination-api', port: taken - 10, variable: 'COORDINATION_API_PORT' };
    await expect(refuseTakenPorts(portsOf(api).slice(1))).rejects.toThrow(
      `port ${taken} of the metrics of coordination-api is taken by another program: set COORDINATION_API_PORT, or PORT_BASE to move all`,
    );
  });

  it('metrics on the port of an app are refused', async () => {
    const port = await findFreePort();
    const api = { name: 'coordination-api', port, variable: 'COORDINATION_API_PORT' };
    const docs = { name: 'docs', port: port - 10, variable: 'DOCS_PORT' };
    await expect(refuseTakenPorts([api, ...portsOf(docs).slice(1)])).rejects.toThrow(
      /the metrics of docs and coordination-api .* set DOCS_PORT$/,
    );
  });

  it('metrics beyond the last port are refused', async () => {
    const api = { name: 'coordination-api', port: 65_530, variable: 'COORDINATION_API_PORT' };
    await expect(refuseTakenPorts(portsOf(api).slice(1))).rejects.toThrow(
      'port 65540 of the metrics of coordination-api cannot be used (the last one is 65535): set COORDINATION_API_PORT',
    );
  });

  it('two apps with one port are refused', async () => {
    const port = await findFreePort();
    const apps = [
      { name: 'coordination-api', port, variable: 'COORDINATION_API_PORT' },
      { name: 'docs', port, variable: 'DOCS_PORT' },
    ];
    await expect(refuseTakenPorts(apps)).rejects.toThrow(/docs and coordination-api .* set DOCS_PORT$/);
  });
});
