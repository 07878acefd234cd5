import { GSI2 } from '../../contracts/internal/table.ts';
import { ALL_CONNECTIONS_PARTITION } from './rows/keys.ts';

/** Every connection, for the query tool of the embedded database. */
export const ALL_CONNECTIONS_QUERY = {
  index_name: GSI2.name,
  key_condition_expression: 'gsi2pk = :pk',
  expression_attribute_values: { ':pk': { S: ALL_CONNECTIONS_PARTITION } },
};
