export { type Job, type QueueName, maxBatchRows, queueNames, JobTicket } from './job.ts';
export {
  isJobName,
  isOutboxJob,
  type JobName,
  jobNames,
  jobDefinitionOf,
  jobs,
  type Jobs,
  type OutboxJobName,
  type PayloadOf,
  type ScheduledJobName,
} from './jobs.ts';
