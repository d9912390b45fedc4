export { type Job, type QueueName, mostInBatch, queueNames, JobTicket } from './job.ts';
export {
  isJobName,
  isOutboxJob,
  type JobName,
  jobNames,
  jobOf,
  jobs,
  type Jobs,
  type OutboxJobName,
  type PayloadOf,
  type ScheduledJobName,
} from './jobs.ts';
