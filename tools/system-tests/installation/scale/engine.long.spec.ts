/**
 * Tests every operation's example on the second of two servers, and moves between them.
 * ENGINE_URLS may name two existing servers, the primary first, with logins of superusers and a space between
 * them. Each then gets a temporary database, and the moves are tested on them as well.
 */
import * as jest from '@jest/globals';
import { itAnswersExamples } from './examples.ts';
import { useGround } from './ground.ts';
import { itMovesOrganizations } from './moves.ts';
import { startServers, useServers } from './servers.ts';

const [home, east] = (process.env['ENGINE_URLS'] ?? '').split(/[\s,]+/).filter((url) => url !== '');
const isNamed = home !== undefined && east !== undefined;
const ground = useGround(jest, () => (isNamed ? useServers([home, east]) : startServers()));

if (isNamed) itMovesOrganizations(jest, ground);
itAnswersExamples(jest, ground);
