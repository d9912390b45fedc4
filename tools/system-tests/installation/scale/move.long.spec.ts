import * as jest from '@jest/globals';
import { useGround } from './ground.ts';
import { itMovesOrganizations } from './moves.ts';
import { startServers } from './servers.ts';

itMovesOrganizations(jest, useGround(jest, startServers));
