import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { download } from './download.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { publish } from './publish.ts';

export const catalog = {
  publish,
  get,
  list,
  download,
  delete: deleteOperation,
} satisfies HandlersOf<DeliveryRegistry['agents']['catalog']>;
