/** `npm run bench -- SUBJECT`: measures one subject and exits with status 1 where it misses a goal. */
const SUBJECTS = {
  reports: () => import('./reports.ts'),
} as const;

const [subject = ''] = process.argv.slice(2);
if (!Object.hasOwn(SUBJECTS, subject)) {
  process.stderr.write(`Usage: npm run bench -- ${Object.keys(SUBJECTS).join(' | ')}\n`);
  process.exit(2);
}
const { bench } = await SUBJECTS[subject as keyof typeof SUBJECTS]();
process.exitCode = (await bench()) ? 0 : 1;
