/**
 * The moves and the examples on servers that are there: ENGINE_URLS names two, home first, with superusers' logins and a space
 * between. Each gets a database of its own, which is gone afterwards.
 */
import * as jest from '@jest/globals';
import { itMovesOrganizations } from './moves.ts';
import { useServers } from './servers.ts';

const [home, east] = (process.env['ENGINE_URLS'] ?? '').split(/[\s,]+/).filter((url) => url !== '');
const isNamed = home !== undefined && east !== undefined;

(isNamed ? jest.describe : jest.describe.skip)(
  isNamed ? 'on the servers of ENGINE_URLS' : 'not run: ENGINE_URLS names no two servers',
  () => itMovesOrganizations(jest, () => useServers([home ?? '', east ?? ''])),
);
