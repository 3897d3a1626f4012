import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import { classSchema } from '#openapi/class-schema.js';

class Room {
  @Matches(/^[a-z]{1,9}$/)
  @IsString()
  shortName: string;

  @Matches(/^\P{Cc}+$/u)
  @IsString()
  @IsOptional()
  note?: string | null;

  @IsIn(['small', 'large'])
  @IsString()
  @ValidateIf((_, value) => value !== null)
  size: string | null;

  @Max(9)
  @Min(1)
  @IsInt()
  @ValidateIf((_, value) => value !== undefined)
  floor?: number;

  @IsString({ each: true })
  @IsArray()
  labels: string[] = [];

  @IsBoolean()
  isOpen = false;

  @IsString()
  path: string;
}

const memberOf = (field: string) => (field === 'shortName' ? 'short_name' : field);

describe('the schema of a class', () => {
  const schema = classSchema('Room', Room, (field) => (field === 'path' ? null : memberOf(field)));

  it('requires the fields that have no default and may not be absent', () => {
    expect(schema.required).toEqual(['short_name', 'size']);
  });

  it('describes types, values, limits, null and portable patterns', () => {
    expect(schema.properties).toEqual({
      short_name: { type: 'string', pattern: '^[a-z]{1,9}$' },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      size: { anyOf: [{ type: 'string', enum: ['small', 'large'] }, { type: 'null' }] },
      floor: { type: 'integer', minimum: 1, maximum: 9 },
      labels: { type: 'array', items: { type: 'string' } },
      isOpen: { type: 'boolean' },
    });
  });

  it('fails for a rule that it cannot describe', () => {
    class Unknown {
      @Min(1)
      size: number;
    }
    expect(() => classSchema('Unknown', Unknown, (field) => field)).toThrow('no schema for min');
  });
});
