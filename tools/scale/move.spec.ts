import * as jest from '@jest/globals';
import { itMovesOrganizations } from './moves.ts';
import { startServers } from './servers.ts';

itMovesOrganizations(jest, startServers);
