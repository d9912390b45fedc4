import { newId } from '@muster/driver';
import { slackDeviceIdOf, type SlackTokens } from '@muster/outbound/slack';
import { organizationsRegistry } from '@muster/organizations-registry';
import { badRequest, handle } from '@muster/runtime';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import {
  countDevices,
  deleteDevicesWithEndedTokens,
  deleteEndedSlackAccount,
  type DeviceRow,
  findSlackAccountDevice,
  findTokenOfChannel,
  insertDevice,
  lockSlackAccount,
  maxDevicesPerMember,
  toDevice,
} from '../../data/devices.ts';
import { lockCallerMembership } from '../../data/members.ts';

export const createConnectSlackAccountHandler = (tokens: SlackTokens) =>
  handle(
    organizationsRegistry.devices.connectSlackAccount,
    async ({ params, caller, db, access, refuse }) => {
      const { memberId } = caller;
      const link = tokens.openLinkToken(await getOrganizationKey(db), params.linkToken);
      if (link === undefined)
        throw badRequest('This link is not valid in this organization.', [
          { path: 'linkToken', message: 'must be the token of a link that Muster sent in Slack' },
        ]);
      if (link.expiresAt < Date.now()) throw refuse('expired');
      const deviceId = slackDeviceIdOf(link);
      const [{ at }, , , , , found, count, endingToken] = await Promise.all([
        access(),
        lockCallerMembership(db, caller),
        lockSlackAccount(db, deviceId),
        deleteDevicesWithEndedTokens(db, caller),
        deleteEndedSlackAccount(db, deviceId),
        findSlackAccountDevice(db, deviceId),
        countDevices(db, caller),
        findTokenOfChannel(db, caller),
      ]);
      if (found !== undefined && found.member_id !== memberId) throw refuse('already_exists');
      if (found !== undefined) return { device: toDevice(found) };
      if (count.all >= maxDevicesPerMember) throw refuse('limit_exceeded', { limit: maxDevicesPerMember });

      const name = link.userName;
      const device: DeviceRow = {
        member_id: memberId,
        device_id: deviceId,
        id: newId(),
        name,
        platform: 'slack_account',
        push_token: null,
        token_id: endingToken,
        app_version: null,
        created_at: at,
        updated_at: at,
      };
      db.deferToCommit(insertDevice(device));
      db.deferToCommit(outboxRow('chat.mail', { memberId, name, service: 'slack_account' }));
      return { device: toDevice(device) };
    },
  );
