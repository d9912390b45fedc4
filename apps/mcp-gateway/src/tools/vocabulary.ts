/**
 * Synonyms for things and actions, collected from trackers, forges, chats and package registries. Each row
 * belongs to a term of the operations' names and summaries. A question with a synonym matches the operations
 * that use the term.
 */

type SynonymRows = Readonly<Record<string, string>>;

export const thingSynonyms: SynonymRows = {
  story:
    'ticket, issue, card, task, bug, defect, todo, to-do, chore, incident, item, work item, feature request, user story, subtask',
  epic: 'initiative, milestone, theme, feature, roadmap, goal, objective',
  column: 'lane, swimlane, stage, workflow, kanban, wip',
  project: 'board, repo, repository, product, codebase, space',
  organization: 'org, company, workspace, account, tenant, enterprise, business, customer, firm',
  member:
    'user, people, person, colleague, teammate, coworker, employee, developer, contractor, collaborator, engineer, staff, folks',
  team: 'squad, crew, group, department, tribe, guild, roster',
  invitation: 'invite, signup, sign-up, onboarding',
  role: 'admin, administrator, permission, right, privilege, viewer, read-only, promote, demote, downgrade',
  access: 'permission, share, grant, collaborator, join, see, let in, let me in, visibility',
  spec: 'specification, document, doc, requirement, prd, acceptance criteria, design, wiki, definition of done',
  comment:
    'note, reply, remark, discussion, thread, conversation, mention, ping, question, answer, feedback, respond, discuss',
  thread: 'question, discussion, conversation',
  assign: 'assignee, owner, responsible, delegate, on my plate, unassign, own, assignment',
  review:
    'reviewer, approval, approve, lgtm, verdict, sign off, request changes, look over, reject, code review',
  prompt: 'template, instruction, slash command, snippet, guideline, skill, convention',
  contract: 'interface, api, schema, openapi, swagger, protobuf, graphql, definition, endpoint, types',
  lock: 'file, path, folder, directory, reserve, reservation, unlock, mutex, semaphore, conflict, collide',
  lease: 'claim, work, hold, reservation',
  execution: 'work, job, task run, delivery, attempt',
  work: 'job, task, ticket, progress, coding, implementation, issue',
  'delivery group':
    'batch, bundle, train, stack, ship together, release together, combined, integration branch',
  agent: 'bot, worker, assistant, robot, ai, automation',
  catalog: 'marketplace, registry, library, store, install, published, package',
  run: 'job, session, process, heartbeat, tool call',
  device: 'phone, laptop, tablet, iphone, ipad, android, computer, mobile, push',
  notification: 'alert, inbox, bell, ping, unread, message, news, new',
  channel: 'e-mail, email, push, mute, unsubscribe, subscribe, snooze, alert, digest, preference',
  broadcast: 'announcement, announce, everyone, everybody, all hands, newsletter',
  audit: 'security, compliance, forensic, deleted, removed, denied',
  activity: 'happened, feed, changelog, history, news, timeline, recent, yesterday, today',
  points: 'xp, score, badge, level, scoreboard, game, streak, karma, gamification, rank, winning, top',
  seat: 'license, upgrade, downgrade, invoice, cost, price, pricing, bill, pay, purchase',
  plan: 'subscription, trial, quota, billing, feature, tier, entitlement',
  rule: 'policy, setting, limit, configuration, require, allow, forbid, enforce, option',
  installation: 'server, instance, platform, tenant, health, healthy, operator',
  branch: 'commit, sha, pr, pull request, merge request, head',
  'pull request': 'pr, merge request, mr, branch, commit',
  forge: 'github, gitlab, gitea, ci, check, build, pipeline, merged, merge, pushed',
  tracker: 'jira, linear, github, asana, trello, upstream, external',
  status: 'state, transition, done, close, reopen, resolve, cancel, in progress, backlog, column, lane',
  token: 'api key, credential, key, login, logged, account, session',
  version: 'revision, release, history, older, previous',
};

/** Actions that only read. */
export const readActionSynonyms: SynonymRows = {
  get: 'show, view, open, read, look, display, detail, fetch, see, what, tell me, current, state, inspect',
  show: 'get, view, display, see, what, tell me, how many',
  list: 'all, which, browse, show, see, what, who, filter, overview, find, enumerate, look up, query, read',
  find: 'search, look, where, locate, lookup, discover, full text',
  count: 'how many, number, total',
  history: 'older, revision, log, changes, previous, diff, versions, who changed, blame',
  identity: 'who am i, whoami, me, myself, logged in, which account',
  leaderboard: 'winning, top, best, ranking, rank, leader',
  follow: 'wait, poll, stream, subscribe, watch, listen, until, tail',
};

export const writeActionSynonyms: SynonymRows = {
  create:
    'add, make, new, open, file, raise, log, report, start, set up, form, launch, kick off, begin, plan, submit, insert, put, register, introduce',
  add: 'put, new, include, join, invite, assign, request, ask, grant, give, attach, bring, onboard, insert',
  invite: 'add, new, send, onboard, bring, join, hire',
  update:
    'change, edit, rename, modify, adjust, fix, correct, set, configure, tweak, raise, lower, require, allow, flag, increase, mark, describe, tag, switch, move, enable, disable',
  set: 'change, put, make, mark, give, define, turn, switch',
  delete:
    'remove, trash, discard, destroy, erase, wipe, throw away, get rid, drop, take back, purge, kill, clear',
  remove:
    'delete, kick, kick out, take off, take out, fire, deactivate, drop, revoke, exclude, stop, get rid',
  revoke: 'cancel, withdraw, take back, undo, invalidate, rescind',
  clear: 'remove, empty, unassign, reset, take back',
  archive: 'hide, retire, shelve, remove, close, freeze, take off',
  resolve: 'answer, settle, close, grant, approve, deny, reject, accept, decide, solve',
  release: 'free, unlock, let go, drop, abandon, give up, unclaim, break, stop, quit, return, step down',
  acquire:
    'take, claim, grab, reserve, pick, block, begin, start, resume, become, check out, prevent, hold, obtain, lease',
  next: 'something to do, pick up, queue, dequeue, pull',
  renew: 'extend, prolong, keep, alive, longer, more time, expire, timeout, refresh',
  checkpoint:
    'save, log, record, progress, note, remember, persist, write down, how far, summary, where I am',
  handoff: 'hand over, pass, forward, transfer, give, delegate, offer, reassign',
  transfer: 'hand over, give, pass, sell',
  complete: 'finish, finished, done, deliver, submit, end, ship, close, fail, failed, hand in, success',
  stop: 'cancel, abort, kill, pause, halt, interrupt, terminate',
  record: 'report, observe, note, log, seen, went, attach, link, track',
  send: 'post, notify, tell, announce, publish, message, broadcast, mail, e-mail',
  resend: 'again, remind, lost, once more, repeat',
  publish: 'release, push, upload, share, submit, deploy',
  download: 'install, fetch, pull, get',
  restore: 'undo, revert, roll back, bring back, go back, recover',
  reorder:
    'sort, arrange, drag, swap, rank, order, prioritize, reprioritize, top, bottom, above, below, before, after, bump',
  replace: 'swap, change, exchange, add, remove, throw in',
  leave: 'quit, exit, resign, depart',
  react: 'emoji, thumb, like, heart, upvote',
  link: 'connect, attach, sync, associate, integrate, reference',
  register: 'add, enroll, new',
  unregister: 'remove, forget, lost, stop, delete',
  read: 'seen, dismiss, acknowledge, viewed, clear',
  reset: 'wipe, zero, clear, start over',
  sync: 'recalculate, recompute, refresh, recount, update',
  select: 'presence, viewing, looking at, open, focus',
  upsert: 'create, save, write, add, edit, change, store, make, new',
  write: 'edit, draft, save, change',
  convert: 'migrate, import, upload, move, transfer',
};

/** Words that questions begin with. */
export const questionWords =
  'how, why, when, where, whose, who, what, which, is, are, was, were, do, does, did, has, have, any, anything, all, every, everything, everyone, check, monitor, load';
