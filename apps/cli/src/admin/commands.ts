/**
 * The operators' commands. Each command is available as `muster admin <word>`, and also as `muster <word>`,
 * its earlier name.
 */
import { type Command } from 'commander';
import { makeAfterLoss } from './after-loss.ts';
import { prepared } from './command.ts';
import { addOutbox } from './jobs.ts';
import { makeMigrate } from './migrate.ts';
import { makeMove, makeNodes, makePlace } from './nodes.ts';
import { addMembers, addOrg } from './organizations.ts';
import { addPlatform, addTokens } from './tokens.ts';
import { operators, type OperatorsWord } from './words.ts';

/** Operators' commands without subcommands. */
const alone = {
  migrate: makeMigrate,
  'after-loss': makeAfterLoss,
  nodes: makeNodes,
  place: makePlace,
  move: makeMove,
} as const;

const isAlone = (of: OperatorsWord): of is keyof typeof alone => of in alone;

const groups: Readonly<Record<Exclude<OperatorsWord, keyof typeof alone>, (group: Command) => void>> = {
  org: addOrg,
  member: addMembers,
  token: addTokens,
  platform: addPlatform,
  outbox: addOutbox,
};

/**
 * Adds all operators' commands below `parent`. If a word is given, `parent` itself becomes the command of
 * that word.
 */
export function addAdmin(parent: Command, word?: OperatorsWord): void {
  const make = (of: OperatorsWord, command: Command): void => {
    if (isAlone(of)) alone[of](prepared(command, operators[of]));
    else groups[of](command.description(operators[of]));
  };
  if (word !== undefined) {
    make(word, parent);
    return;
  }
  for (const each of Object.keys(operators) as OperatorsWord[]) {
    make(each, parent.commands.find((command) => command.name() === each) ?? parent.command(each));
  }
}
