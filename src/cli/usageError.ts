/** The command cannot be done as asked: one sentence for a person, exit code 2. */
export class UsageError extends Error {}
