/**
 * Listens to an agent at work: prints its messages as lines, reports its plan as progress, and keeps its last
 * message.
 */
import { type Plan, type SessionUpdate } from '@agentclientprotocol/sdk';
import { type ProcessGroup } from './group.ts';
import { type ReadyRun } from './session.ts';
import { type AcpUsageReader } from './usage/acp.ts';

export interface AgentUpdateListener {
  readonly handleUpdate: (update: SessionUpdate) => void;
  /**
   * Starts to pass on messages when the first turn begins. Before that, the agent repeats the messages of an
   * earlier session.
   */
  readonly startListening: () => void;
  /** Returns the last message of the turn. */
  readonly endTurn: () => string;
}

const maxMessageChars = 16_000;

const planPercentDone = ({ entries }: Plan): number =>
  entries.length === 0
    ? 0
    : Math.floor((100 * entries.filter(({ status }) => status === 'completed').length) / entries.length);

export function createUpdateListener(
  { lease, usage }: ReadyRun,
  group: ProcessGroup,
  usageReader: AcpUsageReader,
): AgentUpdateListener {
  let isListening = false;
  let [line, words, progress] = ['', '', -1];
  let message: string | undefined;
  const endLine = (): void => {
    if (line.trim() !== '') group.printLine(line);
    line = '';
  };
  const tellProgress = (plan: Plan): void => {
    const done = planPercentDone(plan);
    if (done === progress) return;
    progress = done;
    // A lost progress report does no harm: the next one corrects it.
    void lease.update({ phase: 'implementing', progress: done }).catch(() => undefined);
  };
  return {
    startListening: () => {
      isListening = true;
    },
    endTurn: () => {
      endLine();
      return words.trim();
    },
    handleUpdate: (update) => {
      group.resetIdleTime();
      if (!isListening) return;
      switch (update.sessionUpdate) {
        case 'agent_message_chunk': {
          if (update.content.type !== 'text') return;
          const { text } = update.content;
          const next = update.messageId ?? undefined;
          // A new message begins, so discard the text of the message before it.
          if (next !== message) {
            endLine();
            words = '';
            message = next;
          }
          words = `${words}${text}`.slice(-maxMessageChars);
          const lines = `${line}${text}`.split('\n');
          line = lines.pop() ?? '';
          for (const one of lines) group.printLine(one);
          return;
        }
        case 'tool_call':
          endLine();
          words = '';
          group.printLine(`· ${update.title}`, 'tool');
          return;
        case 'tool_call_update':
          if (update.status === 'failed')
            group.printLine(`· failed: ${update.title ?? update.toolCallId}`, 'tool');
          return;
        case 'plan':
          tellProgress(update);
          return;
        case 'usage_update':
          usage.add(usageReader.readUpdate(update));
          return;
        default:
      }
    },
  };
}
