/**
 * Every operation's example on the second of two servers of our own. Where ENGINE_URLS names two servers (home first, with
 * superusers' logins and a space between), those are used, and the moves are tried on them as well. Each gets a database
 * of its own, which is gone afterwards.
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
