"""A pretrained transformer reads question and paragraph together; entities are the mean of what they stand at."""

import torch
from torch import Tensor, nn

from drop_parsing.parser.batch import Batch
from drop_parsing.parser.encoder import Encoded, Linking
from drop_parsing.reader.dropout import Dropout


class TransformerEncoder(nn.Module):
    """Tokens by their first piece beside what they are linked to, projected. ``transformer`` is any BERT-like model, as
    ``drop_parsing.reader.transformer.load_transformer`` gives it."""

    def __init__(self, transformer: nn.Module, transformer_dim: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.dim = dim
        self.transformer = transformer
        self.linking = Linking(transformer_dim)
        self.project = nn.Linear(2 * transformer_dim, dim)
        self.summarise = nn.Linear(transformer_dim, dim)
        self.dropout = Dropout(dropout)

    def forward(self, batch: Batch) -> Encoded:
        pieces = batch.pieces
        assert pieces is not None, "the batch was made for another encoder"
        inputs = {"input_ids": pieces.ids, "attention_mask": pieces.mask}
        if getattr(self.transformer.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = pieces.segments
        hidden: Tensor = self.transformer(**inputs).last_hidden_state  # (B, P, D)
        question = hidden.gather(1, pieces.tokens.unsqueeze(2).expand(-1, -1, hidden.shape[2]))
        places = torch.arange(question.shape[1], device=question.device)
        mask = places < batch.lengths.unsqueeze(1)
        scores, linked = self.linking(batch, question, self._pooled(batch, hidden, pieces.pooled), mask)
        outputs = torch.tanh(self.project(self.dropout(torch.cat([question, linked], dim=2))))
        return Encoded(self.dropout(outputs), mask, torch.tanh(self.summarise(hidden[:, 0])), scores)

    def _pooled(self, batch: Batch, hidden: Tensor, pooled: Tensor) -> Tensor:
        """(B, E, D) the mean of the pieces that each entity stands at, 0 where at none."""
        size, entities = batch.types.shape
        entity, piece = pooled
        counts = hidden.new_zeros(size * entities).index_add(0, entity, hidden.new_ones(len(entity)))
        sums = hidden.new_zeros(size * entities, hidden.shape[2])
        sums = sums.index_add(0, entity, hidden.flatten(0, 1).index_select(0, piece))
        return (sums / counts.clamp(min=1).unsqueeze(1)).view(size, entities, -1)
