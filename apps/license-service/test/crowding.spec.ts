/** Tests that half-sent bodies of anonymous callers do not block other callers. */
import { type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { sendPartialRequest } from '@muster/testing';
import { type LicenseWorld, noLimits, openLicenseWorld } from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/**
 * The number of request bodies that are sent halfway. It is far above the six requests that one connection
 * may run at the same time.
 */
const partialRequestCount = 200;

it.each([
  ['one address', () => '127.0.0.1'],
  ['two hundred addresses', (index: number) => `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`],
])('half-sent bodies from %s, many more than there are places, keep no machine out', async (_title, from) => {
  const service = await world.start({ environment: { ...noLimits, DATABASE_POOL: '1' } });
  const { key } = await world.issue();
  for (const path of ['/api/activate', '/api/activate/release'])
    for (let index = 0; index < partialRequestCount / 2; index += 1)
      sockets.push(await sendPartialRequest(service.url, { path, sentBody: '{', localAddress: from(index) }));
  expect((await service.activate(key, 'm')).status).toBe(200);
  expect((await service.check(key, 'm')).json).toMatchObject({ valid: true });
  expect((await service.release(key, 'm')).status).toBe(200);
});
