/**
 * The name of the unique constraint or index that refused a statement; undefined for any other error.
 * TypeORM hands out the driver's error as `driverError`; 23505 is SQLSTATE's unique_violation.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const { driverError } = error as { driverError?: { code?: string; constraint?: string } };
  return driverError?.code === '23505' ? driverError.constraint : undefined;
}
