import { randomUUID } from 'node:crypto';
import { newId } from '@muster/driver';
import { type SecretCipher } from '@muster/outbound';
import { chatUrlRefusalReason } from '@muster/outbound/chat';
import { organizationsRegistry } from '@muster/organizations-registry';
import { badRequest, handle } from '@muster/runtime';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import {
  countDevices,
  deleteDevicesWithEndedTokens,
  type DeviceRow,
  deviceSecretOwner,
  findTokenOfChannel,
  insertDevice,
  maxDevicesPerMember,
  toDevice,
} from '../../data/devices.ts';
import { lockCallerMembership } from '../../data/members.ts';

/** The maximum number of chat channels of one member. Each notification is sent to all of them. */
const maxChatsPerMember = 5;

export const createConnectChatHandler = (seals: SecretCipher) =>
  handle(organizationsRegistry.devices.connectChat, async ({ params, caller, db, access, refuse }) => {
    const { service, name, url } = params;
    const { memberId } = caller;
    const message = chatUrlRefusalReason(service, url);
    if (message !== null)
      throw badRequest('Notifications cannot be sent to this address.', [{ path: 'url', message }]);
    const [{ at }, organizationKey, , , count, endingToken] = await Promise.all([
      access(),
      getOrganizationKey(db),
      lockCallerMembership(db, caller),
      deleteDevicesWithEndedTokens(db, caller),
      countDevices(db, caller),
      findTokenOfChannel(db, caller),
    ]);
    if (count.chats >= maxChatsPerMember) throw refuse('limit_exceeded', { limit: maxChatsPerMember });
    if (count.all >= maxDevicesPerMember) throw refuse('limit_exceeded', { limit: maxDevicesPerMember });

    const id = newId();
    const device: DeviceRow = {
      member_id: memberId,
      device_id: `chat-${randomUUID()}`,
      id,
      name,
      platform: service,
      push_token: seals.encrypt(deviceSecretOwner(organizationKey, id), url).toString('base64'),
      token_id: endingToken,
      app_version: null,
      created_at: at,
      updated_at: at,
    };
    db.deferToCommit(insertDevice(device));
    db.deferToCommit(outboxRow('chat.mail', { memberId, name, service }));
    return { device: toDevice(device) };
  });
