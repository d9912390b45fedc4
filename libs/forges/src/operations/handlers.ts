import { type ForgesRegistry } from '@muster/forges-registry';
import { type HandlersOf } from '@muster/runtime';
import { connectHandler } from './connect.ts';
import { list as listDeliveries } from './deliveries/list.ts';
import { redeliver } from './deliveries/redeliver.ts';
import { disconnect } from './disconnect.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { link } from './repositories/link.ts';
import { list as listRepositories } from './repositories/list.ts';
import { unlink } from './repositories/unlink.ts';
import { type ForgesConfig } from './set-up.ts';
import { updateHandler } from './update.ts';

export const createForgesHandlers = (config: ForgesConfig): HandlersOf<ForgesRegistry['forges']> => ({
  connect: connectHandler(config),
  get,
  list,
  update: updateHandler(config),
  disconnect,
  repositories: { list: listRepositories, link, unlink },
  deliveries: { list: listDeliveries, redeliver },
});
