export const EXIT = { done: 0, failed: 1, wrongInput: 2, incomplete: 3, findings: 4 } as const;

export const EXIT_CODES_HELP = `\
Exit codes:
  0  done; also for a command that is safe to repeat and had nothing left to do
  1  failed: a setting is missing, or a service does not answer; the message says what was done and how to continue
  2  wrong input, or not confirmed: nothing was changed
  3  done in part: "user import" reported lines that it did not import
  4  "doctor" found problems
With --json, the error of 1 and 2 is one JSON object in a line of stderr: "error" and "exit_code".`;
