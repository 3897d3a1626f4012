import { failureText } from '#operations/failure-text.js';
import { describeRemedy, type RemedyText } from '#error-guide/doctor/remedies.js';
import { withTimeout } from '#platform/clock.js';
import {
  type Area,
  declareChecks,
  type DoctorCheck,
  type Finding,
  isFinding,
  noneChecked,
  type NotChecked,
  SEVERITIES,
} from './finding.js';

export const DOCTOR_GENERAL_CHECKS = declareChecks({
  'not-examined': 'error: every part of the installation can be examined',
});

/** Time limit of an area, because a server may accept the connection and then hang. */
const AREA_TIMEOUT_MS = 30_000;
const MAX_FINDINGS = 100;

export type Diagnosed = Omit<Finding, 'remedy'> &
  DoctorCheck & { readonly area: string; readonly remedy: RemedyText };

export interface Diagnosis {
  /** The most severe first, grouped by check. */
  readonly findings: readonly Diagnosed[];
  readonly holding: readonly string[];
  readonly notChecked: readonly NotChecked[];
}

/** A failure in one area becomes a finding, and does not affect other areas. */
export async function diagnose(
  areas: readonly Area[],
  progress: (done: number, total: number) => void,
  limitMs = AREA_TIMEOUT_MS,
): Promise<Diagnosis> {
  let done = 0;
  progress(done, areas.length);
  const diagnoses = await Promise.all(
    areas.map(async (area) => {
      const diagnosis = await diagnoseArea(area, limitMs);
      progress((done += 1), areas.length);
      return diagnosis;
    }),
  );
  const findings = diagnoses.flatMap(({ findings }) => findings);
  return {
    findings: SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity)),
    holding: diagnoses.flatMap(({ holding }) => holding),
    notChecked: diagnoses.flatMap(({ notChecked }) => notChecked),
  };
}

async function diagnoseArea(examined: Area, limitMs: number): Promise<Diagnosis> {
  const { name: area, checks } = examined;
  const ids = Object.keys(checks);
  try {
    const results = await withTimeout(examined.examine(), limitMs);
    const reported = results.filter(isFinding);
    const notChecked = results.filter((result): result is NotChecked => !isFinding(result));
    const open = new Set(results.map((result) => result.check));
    const findings = ids.flatMap((id) =>
      bounded(reported.filter((finding) => finding.check === id)).map((finding) => ({
        area,
        ...(checks[id] as DoctorCheck),
        ...finding,
        remedy: describeRemedy(finding.remedy),
      })),
    );
    return { findings, holding: ids.filter((id) => !open.has(id)), notChecked };
  } catch (error) {
    const problem = withoutCredentials(failureText(error));
    const remedy = describeRemedy({ id: 'not-examined' });
    const finding = { check: 'not-examined', subject: area, problem, remedy };
    return {
      findings: [{ area, ...DOCTOR_GENERAL_CHECKS['not-examined'], ...finding }],
      holding: [],
      notChecked: noneChecked(checks, `${area} could not be examined`),
    };
  }
}

/** Limits the findings, because the same mistake in thousands of clients would fill the report. */
function bounded(findings: readonly Finding[]): readonly Finding[] {
  const [next] = findings.slice(MAX_FINDINGS);
  if (!next) return findings;
  const subject = `${findings.length - MAX_FINDINGS} others`;
  return [
    ...findings.slice(0, MAX_FINDINGS),
    { check: next.check, subject, problem: 'the same finding', remedy: { id: 'not-examined.repeated' } },
  ];
}

/** Removes credentials of URLs, because a driver's message may contain the URL with the password. */
function withoutCredentials(message: string): string {
  return message.replaceAll(/\/\/[^/@\s]*@/g, '//');
}
