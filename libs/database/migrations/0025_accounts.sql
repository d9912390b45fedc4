-- What people do with an account in organizations: see who invites them, join, and begin an organization of their own.

-- Who invites this address, in all organizations?
create index invitations_accounts on invitations ((lower(email) collate "C")) where state = 'pending';

-- An organization begins with an entry of who began it.
call app.open_table('audit', 'muster_door',
  'insert (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id)');
call app.open_table('streams', 'muster_door', 'insert (org_id, audit)');
