import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** Options of `user list`. */
export class UserListDto {
  search?: string;

  @IsInt({ message: '--limit must be a number from 1 to 1000' })
  @Min(1, { message: '--limit must be a number from 1 to 1000' })
  @Max(1000, { message: '--limit must be a number from 1 to 1000' })
  limit: number = 100;

  @IsOptional()
  @IsInt({ message: '--after must be the id of a user' })
  @Min(-(2 ** 31), { message: '--after must be the id of a user' })
  @Max(2 ** 31 - 1, { message: '--after must be the id of a user' })
  after?: number;
}
